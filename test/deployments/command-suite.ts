import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  attachToCommand,
  type AttachedCommand,
  commandSocketUrl,
  openCommandSocket,
  prepareCommand,
  tryCommandSocket,
} from '../support/command-client.ts'
import { commonTest, fullTest } from '../support/full-test.ts'
import { startTestPlatform, type TestPlatform, until } from '../support/platform.ts'
import { findProcessesByCommand } from '../support/processes.ts'
import { makeRepository, type Repository } from '../support/repository.ts'

const server = `require('node:http').createServer((req, res) => res.end('served')).listen(process.env.PORT, process.env.HOST)`
const files = {
  'package.json': JSON.stringify({ name: 'shell', private: true, scripts: { start: 'node server.js' } }),
  'server.js': server,
  'echo.js': `process.stdin.pipe(process.stdout)`,
}

/** One-off commands: terminals and pipes, and everything that ends them. */
export function commandSuite(runtime: 'process' | 'docker'): void {
  let platform: TestPlatform
  let repository: Repository
  beforeAll(async () => {
    platform = await startTestPlatform({ runtime })
    repository = makeRepository(files)
    await platform.createProject({ slug: 'shell', repo_url: repository.url })
    await platform.api('PATCH', '/v1/projects/shell', { memory_limit_mb: 128 })
    await platform.api('POST', '/v1/projects/shell/env-vars', { key: 'COLOR', value: 'teal' })
    const { id } = await platform.deploy('shell')
    expect(await platform.waitForEnd('shell', id)).toMatchObject({ status: 'ready', error: null })
  })
  afterAll(async () => {
    await platform.remove()
    repository.remove()
  })

  fullTest('a command over the memory limit of its service is killed, with the reason', async () => {
    const command = await attach(['node', '-e', `const all = []; setInterval(() => all.push(Buffer.alloc(20e6, 1)), 20)`])
    expect(await command.ended).toMatchObject({ type: 'exited', code: 137, out_of_memory: true })
    expect((await platform.fetchEdge('shell.localhost')).body).toBe('served')
  })

  const attach = (command: string[] | null, terminal: { columns: number; rows: number } | null = null) =>
    attachToCommand(platform, { slug: 'shell', command, terminal })
  const see = (command: AttachedCommand, text: string) =>
    until(() => command.output.includes(text) || undefined, { what: `“${text}” in: ${command.output}` })

  test('a command gets the files and variables of the app, and returns two outputs and an exit code', async () => {
    const command = await attach([
      'node',
      '-e',
      `console.log(process.env.COLOR, require('fs').readdirSync('.').includes('server.js')); console.error(process.stdout.isTTY); process.exit(7)`,
    ])
    expect(await command.ended).toMatchObject({ type: 'exited', code: 7, out_of_memory: false })
    expect([command.output, command.errors]).toEqual(['teal true\n', 'undefined\n'])
    expect((await platform.fetchEdge('shell.localhost')).body).toBe('served')
  })

  commonTest(runtime)('input is piped to its end, and megabytes are echoed completely', async () => {
    const command = await attach(['node', 'echo.js'])
    const line = `${'x'.repeat(1023)}\n`
    for (let sent = 0; sent < 3 * 1024; sent += 16) {
      await until(() => sent * 1024 - command.output.length <= 128 * 1024 || undefined, { what: 'the echo' })
      command.type(line.repeat(16))
    }
    command.send({ type: 'end_input' })
    expect(await command.ended).toMatchObject({ type: 'exited', code: 0 })
    expect(command.output === line.repeat(3 * 1024)).toBe(true)
  })

  test('a shell has a terminal with a size, colours and Ctrl-C', async () => {
    const shell = await attach(null, { columns: 100, rows: 30 })
    shell.type('stty size; echo "$TERM"\r')
    await see(shell, '30 100')
    await see(shell, 'xterm-256color')
    shell.send({ type: 'resize', columns: 40, rows: 12 })
    shell.type('stty size\r')
    await see(shell, '12 40')
    shell.type(
      `node -e "process.on('SIGINT', () => { console.log('caught'); process.exit(3) }); setInterval(() => {}, 1000); console.log('wai' + 'ting')"\r`,
    )
    await see(shell, 'waiting')
    shell.type('\x03')
    await see(shell, 'caught')
    shell.type('exit 9\r')
    expect(await shell.ended).toMatchObject({ type: 'exited', code: 9 })
  })

  commonTest(runtime)('a client that does not read stops the command, and memory use stays bounded', async () => {
    const { body, status } = await prepareCommand(platform, { slug: 'shell', command: ['yes'], terminal: { columns: 80, rows: 24 } })
    expect(status).toBe(201)
    const socket = openCommandSocket(platform, body.command.ticket)
    let bytes = 0
    socket.on('message', (data: Buffer, isBinary) => (bytes += isBinary ? data.length : 0))
    await until(() => bytes > 200 * 1024 || undefined, { what: 'the window to fill' })
    await new Promise((resolve) => socket.ping('', true, () => socket.once('pong', resolve)))
    expect(bytes).toBeLessThan(300 * 1024)
    socket.terminate()
  })

  commonTest(runtime)('a ticket is valid once, and never for another origin', async () => {
    const ticketOf = async () => (await prepareCommand(platform, { slug: 'shell', command: ['node', 'echo.js'] })).body.command.ticket
    const ticket = await ticketOf()
    const first = openCommandSocket(platform, ticket)
    expect(await tryCommandSocket(first)).toBe(101)
    expect(await tryCommandSocket(openCommandSocket(platform, ticket))).toBe(401)
    first.terminate()
    expect(await tryCommandSocket(openCommandSocket(platform, await ticketOf(), { origin: 'http://evil.example' }))).toBe(403)
    expect(await tryCommandSocket(openCommandSocket(platform, await ticketOf(), { origin: 'http://shell.localhost:4680' }))).toBe(403)
    expect(await tryCommandSocket(openCommandSocket(platform, await ticketOf(), { host: 'rebound.example' }))).toBe(421)
    expect(await tryCommandSocket(openCommandSocket(platform, 'guessed'))).toBe(401)
    const own = openCommandSocket(platform, await ticketOf(), { origin: platform.handle.api_url })
    expect(await tryCommandSocket(own)).toBe(101)
    own.terminate()
    expect((await platform.api('GET', new URL(commandSocketUrl(platform)).pathname)).status).toBe(404)
  })

  commonTest(runtime)('a command ends when its token is revoked', async () => {
    const made = await platform.api<{ token: string; api_token: { id: string } }>('POST', '/v1/tokens', { name: 'brief' })
    const command = await attachToCommand(platform, { slug: 'shell', command: ['node', 'echo.js'], token: made.body.token })
    expect((await platform.api('DELETE', `/v1/tokens/${made.body.api_token.id}`)).status).toBe(204)
    await platform.advance(3_000)
    expect(await command.ended).toEqual({ type: 'ended', reason: 'access_lost' })
  })
}

/** A killed platform has not ended its commands; the next one finds and ends them. */
export function commandKillTest(runtime: 'process' | 'docker'): void {
  fullTest('a command of a killed platform is gone after the next start', async () => {
    const data_dir = mkdtempSync(join(tmpdir(), 'homeport-command-kill-'))
    const repository = makeRepository(files)
    const mark = `mark_${runtime}_${process.pid}`
    const isRunning = () => findProcessesByCommand(mark).length > 0
    let platform = await startTestPlatform({ runtime, data_dir })
    try {
      await platform.createProject({ slug: 'shell', repo_url: repository.url, previews: false })
      expect(await platform.waitForEnd('shell', (await platform.deploy('shell')).id)).toMatchObject({ status: 'ready', error: null })
      // Ignores the end of its input and of its terminal.
      const script = `process.on('SIGTERM', () => {}); process.on('SIGHUP', () => {}); setInterval(() => '${mark}', 1e6); console.log('up')`
      const command = await attachToCommand(platform, { slug: 'shell', command: ['node', '-e', script], terminal: { columns: 80, rows: 24 } })
      await until(() => command.output.includes('up') || undefined, { what: 'the command' })
      await platform.kill()
      expect(isRunning()).toBe(true)
      platform = await startTestPlatform({ runtime, data_dir })
      await until(() => !isRunning() || undefined, { what: 'the end of the command' })
      expect((await platform.fetchEdge('shell.localhost')).body).toBe('served')
    } finally {
      await platform.remove()
      repository.remove()
      rmSync(data_dir, { recursive: true, force: true })
    }
    expect(isRunning()).toBe(false)
  })
}
