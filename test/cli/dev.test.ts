import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest'
import type { DevSession } from '../../server/contract/dev.ts'
import { fullTest } from '../support/full-test.ts'
import { type CommandLine, commandLine } from '../support/command.ts'
import { openSecureSocket } from '../support/dev-socket.ts'
import { createTempFolder, root, type RunningCommand, startHomeport } from '../support/instance-process.ts'
import { startTestPlatform, type TestPlatform, until } from '../support/platform.ts'

const folder = createTempFolder('dev')
const app = join(folder.path, 'garden')
const branch = join(folder.path, 'garden-roses')
let platform: TestPlatform
let run: CommandLine
const running: RunningCommand[] = []

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'init.defaultBranch=main', ...args], { cwd: app, stdio: 'pipe' })

/** A project with Vite, whose production build is a different page. */
beforeAll(async () => {
  mkdirSync(app)
  writeFileSync(join(app, 'package.json'), JSON.stringify({ name: 'garden', private: true, type: 'module', scripts: { dev: 'vite' } }))
  writeFileSync(join(app, 'vite.config.js'), `export default { cacheDir: '.vite', clearScreen: false }\n`)
  writeFileSync(join(app, '.gitignore'), 'node_modules\n.vite\n')
  writeFileSync(join(app, 'index.html'), '<p>source</p><script type="module" src="/main.js"></script>')
  writeFileSync(join(app, 'main.js'), `document.title = 'one'\nimport.meta.hot?.accept()\n`)
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '--message', 'one')
  git('worktree', 'add', '--quiet', '-b', 'feature/roses', branch)
  for (const one of [app, branch]) symlinkSync(join(root, 'node_modules'), join(one, 'node_modules'))
  platform = await startTestPlatform({ runtime: 'process' })
  run = commandLine(platform.handle.instance, folder.path)
  const built = join(folder.path, 'built')
  mkdirSync(built)
  writeFileSync(join(built, 'index.html'), '<p>production</p>')
  expect((await run('deploy', built, '--project', 'garden')).code).toBe(0)
  expect((await run('env', 'set', 'garden', 'VITE_COLOR=green')).code).toBe(0)
})
afterAll(async () => {
  for (const command of running) command.kill('SIGKILL')
  await Promise.all(running.map(({ ended }) => ended))
  await platform.remove()
  folder.remove()
})

const sessions = async () => (await platform.api<{ sessions: DevSession[] }>('GET', '/instance/projects/garden/dev')).body.sessions
const page = async (host = 'garden.localhost', path = '/') => (await platform.fetchEdge(host, path)).body

async function startDev(cwd: string, ...args: string[]): Promise<{ command: RunningCommand; session: DevSession }> {
  const command = await startHomeport(['dev', '--data', platform.data_dir, ...args], cwd)
  running.push(command)
  onTestFailed(() => console.error(command.output()))
  const session = await until(async () => (await sessions()).find((one) => one.folder === cwd && one.status === 'running'), {
    what: 'the development server',
  })
  return { command, session }
}

test('an edit arrives over a WebSocket through HTTPS, and SIGKILL switches back to the production build', async () => {
  const { command, session } = await startDev(app)
  expect(session).toMatchObject({ host: 'garden.localhost', is_production_address: true, branch: 'main', framework: 'vite' })
  expect(await page()).toContain('/@vite/client')
  expect(await page('garden.localhost', '/main.js')).toContain("'one'")

  const token = /const wsToken = "([^"]+)"/.exec(await page('garden.localhost', '/@vite/client'))?.[1]
  const { socket, messages } = await openSecureSocket(session.https_url!, `/?token=${token}`, 'vite-hmr')
  await until(() => messages.find((text) => text.includes('connected')), { what: 'the connection to Vite' })
  writeFileSync(join(app, 'main.js'), `document.title = 'two'\nimport.meta.hot?.accept()\n`)
  expect(await until(() => messages.find((text) => text.includes('"update"')), { what: 'the update' })).toContain('/main.js')
  expect(await page('garden.localhost', '/main.js')).toContain("'two'")

  const closed = new Promise((resolve) => socket.once('close', resolve))
  command.kill('SIGKILL')
  await closed
  await until(async () => ((await sessions()).length === 0 ? true : undefined), { what: 'the end of the session' })
  expect(await page()).toContain('production')
  // The development server ends with the command that was killed.
  await until(
    () =>
      fetch(`http://127.0.0.1:${session.port}`).then(
        () => undefined,
        () => true,
      ),
    { what: 'the end of Vite' },
  )
})

fullTest('a linked worktree has its own address, and --stop switches both back', async () => {
  const [main, roses] = await Promise.all([startDev(app), startDev(branch)])
  expect([main.session.host, roses.session.host]).toEqual(['garden.localhost', 'feature-roses--garden.localhost'])
  expect(await page('feature-roses--garden.localhost', '/main.js')).toContain("'one'")
  expect(await page('garden.localhost', '/main.js')).toContain("'two'")
  const again = await (await startHomeport(['dev', '--data', platform.data_dir], app)).ended
  expect([again.code, again.err]).toEqual([1, expect.stringContaining('dev_session_exists')])

  expect((await run('dev', 'garden', '--stop')).out).toContain('Switched garden.localhost back.')
  expect(await page()).toContain('production')
  expect((await platform.fetchEdge('feature-roses--garden.localhost')).status).toBe(404)
  const [ended] = await Promise.all([main.command.ended, roses.command.ended])
  expect([ended.code, ended.err]).toEqual([0, expect.stringContaining('switched back')])
})

test('the server gets the variables of the project, and a page says that it is starting or down', async () => {
  const script = join(folder.path, 'server.mjs')
  writeFileSync(
    script,
    `import { createServer } from 'node:http'
     import { once } from 'node:events'
     if (process.argv[2] === 'wait') await once(process.stdin.resume(), 'never')
     createServer((request, response) => response.end(JSON.stringify({ ...process.env, host: request.headers.host }))).listen(process.env.PORT, '127.0.0.1')`,
  )
  const { command } = await startDev(app, '--', process.execPath, script)
  const seen = JSON.parse(await page()) as Record<string, string>
  expect(seen).toMatchObject({ VITE_COLOR: 'green', NODE_ENV: 'development', HOMEPORT_ENVIRONMENT: 'development', host: `localhost:${seen.PORT}` })
  command.kill('SIGTERM')
  expect((await command.ended).code).toBe(0)
  expect(await page()).toContain('production')
})

test('expose gives a running program a name until the command ends', async () => {
  const server = createServer((request, response) => response.end(`by hand for ${request.headers.host}`)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = String((server.address() as AddressInfo).port)
  const command = await startHomeport(['expose', 'shed', port, '--data', platform.data_dir], folder.path)
  running.push(command)
  await until(async () => (await page('shed.localhost')).startsWith('by hand for shed.localhost') || undefined, { what: 'the program' })
  command.kill('SIGINT')
  await command.ended
  expect(await page('shed.localhost')).not.toContain('by hand')
  expect((await run('expose', 'shed', 'no-port')).code).toBe(2)
  server.close()
})
