import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import { attachToCommand } from '../support/command-client.ts'
import { type CommandLine, commandLine, runCommand } from '../support/command.ts'
import { createFakeTerminal } from '../support/fake-terminal.ts'
import { checkRepository, commitToBranch, waitForFirstCheck, waitForPreview } from '../support/git-branches.ts'
import { createTempFolder } from '../support/instance-process.ts'
import { findProcessesByCommand } from '../support/processes.ts'
import { makeRepository } from '../support/repository.ts'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'
import { until } from '../support/until.ts'

const folder = createTempFolder('run')
const app = {
  'package.json': JSON.stringify({ name: 'shop', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `require('node:http').createServer((req, res) => res.end('served')).listen(process.env.PORT, process.env.HOST)`,
}
let platform: SharedPlatform
let run: CommandLine

function writeFolder(name: string, files: Record<string, string>): string {
  const path = join(folder.path, name)
  mkdirSync(path)
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text)
  return path
}

beforeAll(async () => {
  platform = await sharedPlatform()
  run = commandLine(platform.handle.instance, folder.path)
  for (const path of [writeFolder('shop', app), writeFolder('halted', app), writeFolder('site', { 'index.html': 'hello' })])
    expect(await run('deploy', path)).toMatchObject({ code: 0 })
})
afterAll(async () => {
  await platform.remove()
  folder.remove()
})

type More = NonNullable<Parameters<typeof runCommand>[3]>
const runWith = (more: More, ...args: string[]) => runCommand(platform.handle.instance, folder.path, args, more)
const node = (script: string) => ['shop', '--', 'node', '-e', script]
/** A command that only SIGKILL ends, with a text by which it is found in the process list. */
const stubborn = (mark: string) =>
  node(`process.on('SIGTERM', () => {}); process.on('SIGHUP', () => {}); setInterval(() => '${mark}', 1e6); console.log('up')`)
const untilGone = (mark: string) => until(() => findProcessesByCommand(mark).length === 0 || undefined, { what: `the end of ${mark}` })

describe('homeport run', () => {
  test('passes on both outputs and the exit code', async () => {
    expect(await run('run', ...node(`console.log('one'); console.error('two'); process.exitCode = 7`))).toMatchObject({
      code: 7,
      out: 'one\n',
      err: 'two\n',
    })
    expect(await run('run', ...node(`process.kill(process.pid, 'SIGKILL')`))).toMatchObject({ code: 137, out: '', err: '' })
  })

  test('pipes standard input to its end', async () => {
    const input = 'äöü\n'.repeat(100_000)
    const count = `let n = 0; process.stdin.on('data', (piece) => (n += piece.length)).on('end', () => console.log(n))`
    expect(await runWith({ input }, 'run', ...node(count))).toMatchObject({ code: 0, out: `${Buffer.byteLength(input)}\n`, err: '' })
    // A command that does not read its input does not wait for the rest.
    expect(await runWith({ input }, 'run', ...node('process.exit(4)'))).toMatchObject({ code: 4, out: '', err: '' })
  })

  test('--json prints one document; after -- it belongs to the command', async () => {
    const shown = await run('run', '--json', ...node(`console.log('ä'); console.error('two'); process.exitCode = 5`))
    expect([shown.code, shown.err]).toEqual([5, ''])
    expect(JSON.parse(shown.out)).toEqual({ exit_code: 5, stdout: 'ä\n', stderr: 'two\n' })
    expect((await run('run', ...node('console.log(process.argv[1])'), '--', '--json')).out).toBe('--json\n')
  })

  test.each([
    [['run'], 2, /^SLUG is missing\./],
    [['run', 'shop'], 2, /^The command is missing\. Write it after two dashes: homeport run my-app -- npm run migrate\n/],
    [['run', 'shop', '--'], 2, /^The command is missing\./],
    [['run', 'shop', 'ls'], 2, /^Unexpected argument “ls”\.\n\nUsage:\n {2}homeport run SLUG .* -- COMMAND/],
    [['shell', 'shop', '--', 'ls'], 2, /^Unexpected argument “ls”\./],
    [['shell', 'shop', '--json'], 2, /A shell has no JSON output/],
    [['run', 'nothing', '--', 'ls'], 1, /^project_not_found: /],
    [
      ['run', 'shop', '--service', 'cellar', '--', 'ls'],
      1,
      /^service_not_found: The live version has no service “cellar”\. List them with homeport services\./,
    ],
    [['run', 'shop', '--branch', 'cellar', '--', 'ls'], 1, /^service_not_started: No version is live\./],
    [['run', 'site', '--', 'ls'], 1, /^service_not_started: A static site has only files, so no command can run in it\./],
  ])('%j ends with %i', async (args, code, err) => {
    expect(await run(...args)).toMatchObject({ code, out: '', err: expect.stringMatching(err) })
  })

  fullTest('--service and --branch choose the environment', async () => {
    const services = (role: string) => `services:
  web: { build: ., command: node server.js, port: 3000, environment: { ROLE: web } }
  worker: { build: ., command: node worker.js, environment: { ROLE: ${role} } }
`
    const repository = makeRepository({ ...app, 'worker.js': 'setInterval(() => {}, 1e6)', 'homeport.yaml': services('worker') })
    try {
      await platform.createProject({ slug: 'fleet', repo_url: repository.url })
      expect(await platform.waitForEnd('fleet', (await platform.deploy('fleet')).id)).toMatchObject({ status: 'ready', error: null })
      await waitForFirstCheck(platform, 'fleet')
      const sha = commitToBranch(repository.folder, 'feature/crew', { 'homeport.yaml': services('preview worker') })
      await checkRepository(platform, 'fleet')
      await waitForPreview(platform, 'fleet', 'feature/crew', sha)
      const roleIn = async (...flags: string[]) => (await run('run', 'fleet', ...flags, '--', 'node', '-p', 'process.env.ROLE')).out
      expect(await roleIn()).toBe('web\n')
      expect(await roleIn('--service', 'worker')).toBe('worker\n')
      expect(await roleIn('--branch', 'feature/crew')).toBe('web\n')
      expect(await roleIn('--service', 'worker', '--branch', 'feature/crew')).toBe('preview worker\n')
    } finally {
      repository.remove()
    }
  })

  test('a refused WebSocket exits with 1 and the reason, an unreachable instance with 3', async () => {
    // A proxy in between returns a ticket that the instance does not know.
    const { hostname, port } = new URL(platform.handle.api_url)
    let isReachable = true
    const between = createServer((_request, response) => {
      const command = { id: 'cmd_1', service: null, deployment_id: 'dep_1', ticket: 'guessed', expires_at: new Date().toISOString() }
      response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify({ command }))
    })
    between.on('upgrade', (request, socket) => {
      if (!isReachable) return socket.destroy()
      const instance = connect(Number(port), hostname)
      const headers = Object.entries({ ...request.headers, host: `${hostname}:${port}` }).map(([name, value]) => `${name}: ${String(value)}\r\n`)
      instance.write(`GET ${request.url} HTTP/1.1\r\n${headers.join('')}\r\n`)
      instance.pipe(socket).pipe(instance)
    })
    await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve))
    const target = { api_url: `http://127.0.0.1:${(between.address() as AddressInfo).port}`, token: 'svc_any' }
    const runThere = () => runCommand(target, folder.path, ['run', 'shop', '--', 'ls'])
    try {
      expect(await runThere()).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringMatching(/^unauthorized: The ticket of this command is unknown, expired or used\. Start the command again\.\n/),
      })
      isReachable = false
      expect(await runThere()).toMatchObject({ code: 3, out: '', err: expect.stringMatching(/The connection to Homeport failed/) })
    } finally {
      between.close()
      between.closeAllConnections()
    }
  })

  test('a terminal passes on keys and sizes, and raw mode ends with the command', async () => {
    const terminal = createFakeTerminal()
    const script = `const show = () => console.log(['size', ...process.stdout.getWindowSize()].join(' ')); show()
      process.stdout.on('resize', show); process.stdin.once('data', () => process.exit(4))`
    const running = runWith({ io: terminal.io }, 'run', ...node(script))
    await terminal.see('size 100 30')
    expect(terminal.raw).toEqual([true])
    terminal.resize({ columns: 40, rows: 12 })
    await terminal.see('size 40 12')
    // The API accepts neither of these sizes.
    terminal.resize({ columns: 5000, rows: 0 })
    await terminal.see('size 1000 1')
    terminal.type('\r')
    expect((await running).code).toBe(4)
    expect([terminal.raw, terminal.watchers.size]).toEqual([[true, false], 0])
  })

  test('Ctrl-C before or during the command leaves nothing behind', async () => {
    const terminal = createFakeTerminal({ columns: 5000, rows: 0 })
    const stop = new AbortController()
    const running = runWith({ io: terminal.io, signal: stop.signal }, 'run', ...stubborn('mark_aborted'))
    await terminal.see('up')
    stop.abort()
    expect((await running).code).toBe(130)
    expect([terminal.raw, terminal.watchers.size]).toEqual([[true, false], 0])
    await untilGone('mark_aborted')
    expect((await runWith({ signal: stop.signal }, 'run', ...stubborn('mark_early'))).code).toBe(130)
    await untilGone('mark_early')
  })

  fullTest('killing the client ends the command', async () => {
    const [slug = '', , ...command] = stubborn('mark_killed')
    const { socket } = await attachToCommand(platform, { slug, command })
    await until(() => findProcessesByCommand('mark_killed').length > 0 || undefined, { what: 'the command' })
    socket.terminate()
    await untilGone('mark_killed')
  })

  fullTest('stopping the project ends the command with a message, and refuses the next', async () => {
    const terminal = createFakeTerminal()
    const running = runWith({ io: terminal.io }, 'run', 'halted', '--', 'node', '-e', `setInterval(() => {}, 1e6); console.log('up')`)
    await terminal.see('up')
    expect((await run('projects', 'stop', 'halted')).code).toBe(0)
    expect(await running).toMatchObject({ code: 1, err: 'The project was stopped, and the command with it.\n' })
    expect([terminal.raw, terminal.watchers.size]).toEqual([[true, false], 0])
    expect(await run('run', 'halted', '--', 'ls')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^service_not_started: No version is live\. Deploy/),
    })
  })
})

test('homeport shell exits with the code of the shell', async () => {
  const terminal = createFakeTerminal()
  const running = runWith({ io: terminal.io }, 'shell', 'shop')
  terminal.type('echo "$((40 + 2)) $PWD"; ls\r')
  await terminal.see('server.js')
  terminal.type('exit 3\r')
  expect((await running).code).toBe(3)
  expect([terminal.raw, terminal.watchers.size]).toEqual([[true, false], 0])
})
