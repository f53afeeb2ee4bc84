import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createServer } from 'node:http'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { electronBinary, findElectron } from '../../main/electron-binary.mjs'
import { nodeFlags } from '../../server/cli/prepare.mjs'
import { fullTest } from '../support/full-test.ts'
import { createTempFolder, root } from '../support/instance-process.ts'
import { readInstanceFile } from '../../server/lib/instance-file.ts'
import { until } from '../support/until.ts'
import { isFullTier } from '../support/tier.ts'

let folder: ReturnType<typeof createTempFolder>
beforeEach(() => void (folder = createTempFolder('start')))
afterEach(() => folder.remove())

/** A user's environment, without what a test runner or npm adds. */
function environment(more: Record<string, string>): NodeJS.ProcessEnv {
  const own = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(HOMEPORT_|VITEST|DISPLAY$|WAYLAND_DISPLAY$|ELECTRON_|npm_)/.test(name)),
  )
  return { ...own, NO_COLOR: '1', HOMEPORT_DATA: join(folder.path, 'data'), ...more }
}

describe('changed dependencies', () => {
  /** What `npm ci` and `npm rebuild node` do to the Node that runs Homeport. */
  const npmCli = `
    const fs = require('node:fs')
    if (process.argv[2] === 'ci') {
      fs.rmSync('node_modules/node', { recursive: true })
      fs.writeFileSync('node_modules/.package-lock.json', fs.readFileSync('package-lock.json'))
    } else if (process.argv[3] === 'node') {
      fs.mkdirSync('node_modules/node/bin', { recursive: true })
      fs.symlinkSync(process.execPath, 'node_modules/node/bin/node')
    }`

  test.each(['npm start', 'npm test through a script'])('are installed although npm deletes the Node that runs the installation: %s', (way) => {
    const repository = join(folder.path, 'repository')
    const files = {
      'package.json': '{"allowScripts":{"node":true}}',
      'package-lock.json': '{"packages":{"node_modules/node":{"version":"2.0.0"}}}',
      '../npm-cli.js': npmCli,
      '../bin/npm': `#!/bin/sh\nexec node "${folder.path}/npm-cli.js" "$@"\n`,
    }
    for (const name of ['server/cli', 'node_modules/node/bin', '../bin']) mkdirSync(join(repository, name), { recursive: true })
    for (const [name, text] of Object.entries(files)) writeFileSync(join(repository, name), text, { mode: 0o755 })
    cpSync(join(root, 'server/cli/prepare.mjs'), join(repository, 'server/cli/prepare.mjs'))
    symlinkSync(process.execPath, join(folder.path, 'bin/node'))
    const ownNode = join(repository, 'node_modules/node/bin/node')
    cpSync(process.execPath, ownNode)
    const PATH = [join(repository, 'node_modules/node/bin'), join(folder.path, 'bin'), '/usr/bin', '/bin'].join(delimiter)
    const { status, stderr } = spawnSync(
      ownNode,
      ['--input-type=module', '-e', `await (await import(${JSON.stringify(join(repository, 'server/cli/prepare.mjs'))})).installMissing()`],
      { env: { PATH, ...(way === 'npm start' && { npm_execpath: join(folder.path, 'npm-cli.js') }) }, encoding: 'utf8' },
    )
    expect(stderr).toBe('Installing dependencies (none are here yet); this takes a minute or two.\n')
    expect(status).toBe(0)
    expect(realpathSync(ownNode)).toBe(realpathSync(process.execPath))
  })
})

describe('npm start', () => {
  test('without a display: headless, with the reason in one sentence and the sign-in address', async () => {
    const child = spawn(process.execPath, [join(root, 'main/start.mjs'), '--port', '0', '--edge-port', '0', '--runtime', 'process', '--no-open'], {
      env: environment({}),
    })
    let out = ''
    let err = ''
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
    const ended = once(child, 'close') as Promise<[number]>
    try {
      await until(() => child.exitCode !== null || out.includes('Stop with Ctrl-C') || undefined, { what: 'the last line of the welcome' })
      expect([child.exitCode, err]).toEqual([null, expect.any(String)])
      expect(err.match(/Homeport runs without a window: .+\./g)).toHaveLength(1)
      const instance = readInstanceFile(join(folder.path, 'data'))
      expect(out).toContain(instance?.sign_in_url)
      // The memory settings reached the platform process.
      if (process.platform === 'linux') {
        expect(readFileSync(`/proc/${instance?.pid}/cmdline`, 'utf8')).toContain('--max-semi-space-size=4')
        expect(readFileSync(`/proc/${instance?.pid}/environ`, 'utf8')).toContain('MALLOC_MMAP_THRESHOLD_=65536')
      }
      if (isFullTier) {
        // All checks start every toolchain of this machine.
        const response = await fetch(`${instance?.api_url}/instance/doctor`, { headers: { authorization: `Bearer ${instance?.token}` } })
        expect(((await response.json()) as { checks: object[] }).checks).toContainEqual(
          expect.objectContaining({ name: 'window', status: 'warning', message: 'Homeport runs without a window: this machine has no display.' }),
        )
      }
      // Deep below its root, as from a link: its relative URLs must work there too.
      const deep = new URL('projects/some', instance!.dashboard_url)
      const page = await (await fetch(deep)).text()
      const script = new URL(/type="module"[^>]* src="([^"]+\.js)"/.exec(page)?.[1] ?? 'no-script', deep)
      expect((await fetch(script)).headers.get('content-type')).toContain('javascript')
    } finally {
      child.kill('SIGTERM')
    }
    expect((await ended)[0]).toBe(0)
  })

  test('with a display and the binary: the desktop, with the given options', () => {
    const dist = join(folder.path, 'dist')
    mkdirSync(dist)
    // A fake of Electron's binary that reports its arguments.
    writeFileSync(
      join(dist, 'electron'),
      `#!/bin/sh\nprintf '%s\\n' "$@" "as node: $ELECTRON_RUN_AS_NODE" "apps: $HOMEPORT_NODE" > "${folder.path}/arguments"\n`,
    )
    chmodSync(join(dist, 'electron'), 0o755)
    const { status } = spawnSync(process.execPath, [join(root, 'main/start.mjs'), '--port', '0'], {
      // As in a terminal within an editor.
      env: environment({ DISPLAY: ':99', ELECTRON_OVERRIDE_DIST_PATH: dist, ELECTRON_RUN_AS_NODE: '1' }),
    })
    expect(status).toBe(0)
    const args = readFileSync(join(folder.path, 'arguments'), 'utf8').trim().split('\n')
    expect(args.filter((word) => word !== '--no-sandbox')).toEqual([root, '--port', '0', 'as node: ', expect.stringMatching(/^apps: \/.*node$/)])
  })

  test('with a binary that cannot run here: headless, with the reason', async () => {
    const dist = join(folder.path, 'dist')
    mkdirSync(dist)
    writeFileSync(join(dist, 'electron'), '#!/bin/sh\necho "error while loading shared libraries" >&2\nexit 127\n')
    chmodSync(join(dist, 'electron'), 0o755)
    const child = spawn(process.execPath, [join(root, 'main/start.mjs'), '--port', 'none'], {
      env: environment({ DISPLAY: ':99', ELECTRON_OVERRIDE_DIST_PATH: dist }),
    })
    let err = ''
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number]
    expect(err).toContain('shared libraries')
    expect(err).toContain('Homeport runs without a window: Electron exited immediately (exit code 127')
    expect(code).toBe(2)
  })

  fullTest('with a display but no binary, and an unreachable release host: headless, naming the host', async () => {
    const child = spawn(process.execPath, [join(root, 'main/start.mjs'), '--port', 'none'], {
      env: environment({ DISPLAY: ':99', ELECTRON_OVERRIDE_DIST_PATH: join(folder.path, 'nothing'), ELECTRON_MIRROR: 'http://127.0.0.1:9/' }),
    })
    let err = ''
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number]
    expect(err).toContain('127.0.0.1:9 does not respond')
    // The flag that `serve` refuses shows that it was called.
    expect(code).toBe(2)
  })
})

if (isFullTier)
  test.runIf(process.platform === 'linux')('the command starts the platform with the heap flags and the malloc thresholds', async () => {
    const data = join(folder.path, 'data')
    const words = ['serve', '--data', data, '--port', '0', '--edge-port', '0', '--runtime', 'process', '--no-open']
    const child = spawn(process.execPath, [join(root, 'server/cli/homeport.mjs'), ...words], { env: environment({}), stdio: 'ignore' })
    const gone = once(child, 'exit')
    try {
      await until(() => child.exitCode !== null || readInstanceFile(data)?.pid === child.pid || undefined, { what: 'instance.json' })
      const read = (name: string) => readFileSync(`/proc/${child.pid}/${name}`, 'utf8').split('\0')
      expect(read('cmdline')).toEqual(expect.arrayContaining(nodeFlags))
      expect(read('environ')).toContain('MALLOC_MMAP_THRESHOLD_=65536')
    } finally {
      child.kill('SIGTERM')
      await gone
    }
  })

test('a program without signals is asked to end by a message', async () => {
  const program = `process.on('message', (word) => { console.log(word); process.exit(3) }); console.log('up')`
  const script = `import { become } from './server/cli/prepare.mjs'; become(process.execPath, ['-e', ${JSON.stringify(program)}], undefined, true)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
    if (out === 'up\n') child.kill('SIGINT')
  })
  const [code] = (await once(child, 'close')) as [number]
  expect([code, out]).toEqual([3, 'up\nquit\n'])
})

describe('when Electron’s binary has to be downloaded', () => {
  const host = createServer((_request, response) => void held.push(() => response.end()))
  let held: (() => void)[] = []
  beforeEach(async () => {
    held = []
    await new Promise<void>((resolve) => void host.listen(0, '127.0.0.1', resolve))
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    host.closeAllConnections()
    await new Promise((resolve) => void host.close(resolve))
  })
  const env = () => ({ DISPLAY: ':99', ELECTRON_MIRROR: `http://127.0.0.1:${(host.address() as { port: number }).port}/` })

  /** Electron's package, whose install script is interrupted a number of times, and reports its progress. */
  function createElectron(cuts: number) {
    const write = (path: string, text: string) => writeFileSync(join(folder.path, path), text)
    mkdirSync(join(folder.path, 'dist'))
    write('package.json', '{"version":"45.4.1"}')
    write('dist/version', '45.4.1')
    write(
      'install.js',
      `const { readFileSync, writeFileSync } = require('node:fs')
let runs = 0
try { runs = Number(readFileSync('runs', 'utf8')) } catch {}
writeFileSync('runs', String(runs + 1))
console.log('fetched ' + (runs + 1) + ' times')
if (runs < ${cuts}) process.exit(1)
writeFileSync('dist/electron', '')
writeFileSync('path.txt', 'electron')`,
    )
    return () => Number(readFileSync(join(folder.path, 'runs'), 'utf8'))
  }
  const find = (said: string[] = []) =>
    findElectron({ folder: folder.path, node: process.execPath, say: (line) => said.push(line), env: env(), platform: 'linux' })

  test('an interrupted download is repeated, at once and at the next start', async () => {
    const runs = createElectron(3)
    const said: string[] = []
    const first = find(said)
    ;(await until(() => held.shift(), { what: 'the request for the release' }))()
    expect(await first).toEqual({ reason: expect.stringContaining('The next start tries again') })
    expect([runs(), said]).toEqual([2, [expect.stringContaining('shows its progress')]])
    const second = find()
    ;(await until(() => held.shift(), { what: 'the request for the release' }))()
    expect(await second).toEqual({ binary: join(folder.path, 'dist', 'electron') })
    expect(runs()).toBe(4)
    // It is complete, so no download is requested.
    expect(await find()).toEqual({ binary: join(folder.path, 'dist', 'electron') })
  })

  test('waits ten seconds for the release host', async () => {
    createElectron(0)
    const patience = new AbortController()
    const limit = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(patience.signal)
    const found = find()
    await until(() => held[0], { what: 'the request for the release' })
    expect(limit.mock.calls).toEqual([[10_000]])
    patience.abort()
    expect(await found).toEqual({ reason: expect.stringContaining('does not respond') })
  })

  test('shows the progress that the install script prints', async () => {
    createElectron(0)
    const script = `import { findElectron } from ${JSON.stringify(join(root, 'main/electron-binary.mjs'))}
await findElectron({ folder: ${JSON.stringify(folder.path)}, node: process.execPath, say: console.error, platform: 'linux' })`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { env: environment(env()), stdio: ['ignore', 'ignore', 'pipe'] })
    let err = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
    const ended = once(child, 'close')
    ;(await until(() => held.shift(), { what: 'the request for the release' }))()
    await ended
    expect(err).toContain('fetched 1 times')
  })
})

test.each([
  ['is there', { version: '45.4.1', 'path.txt': 'electron', binary: 'electron' }, true],
  ['was only partly unpacked', { version: '45.4.1', binary: 'electron' }, false],
  ['is that of another version', { version: '44.0.0', 'path.txt': 'electron', binary: 'electron' }, false],
  ['lacks its executable', { version: '45.4.1', 'path.txt': 'electron', binary: 'other' }, false],
])('Electron’s binary %s', (_, found, isThere) => {
  mkdirSync(join(folder.path, 'dist'))
  writeFileSync(join(folder.path, 'package.json'), '{"version":"45.4.1"}')
  writeFileSync(join(folder.path, 'dist', 'version'), `v${found.version}\n`)
  writeFileSync(join(folder.path, 'dist', found.binary), '')
  if ('path.txt' in found) writeFileSync(join(folder.path, 'path.txt'), found['path.txt'])
  expect(electronBinary(folder.path, {})).toBe(isThere ? join(folder.path, 'dist', 'electron') : undefined)
})

test('uses the machine’s Node where the Node package cannot be installed', () => {
  // A checkout of its own with an npm that has every package except that one.
  mkdirSync(join(folder.path, 'server/cli'), { recursive: true })
  cpSync(join(root, 'server/cli/prepare.mjs'), join(folder.path, 'server/cli/prepare.mjs'))
  const lock = '{"packages":{"node_modules/node":{"version":"24.0.0"}}}'
  writeFileSync(join(folder.path, 'package.json'), '{"allowScripts":{"node":true}}')
  writeFileSync(join(folder.path, 'package-lock.json'), lock)
  writeFileSync(
    join(folder.path, 'npm.js'),
    `const { mkdirSync, writeFileSync } = require('node:fs')
mkdirSync('node_modules', { recursive: true })
if (process.argv[2] === 'ci') writeFileSync('node_modules/.package-lock.json', '${lock}')
process.exit(process.argv[2] === 'rebuild' && process.argv[3] === 'node' ? 1 : 0)`,
  )
  const script = `import { installMissing, nodePath } from './server/cli/prepare.mjs'
await installMissing()
await installMissing()
console.log(nodePath())`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: folder.path,
    env: environment({ npm_execpath: join(folder.path, 'npm.js') }),
    encoding: 'utf8',
  })
  expect([stdout.trim(), stderr.match(/of this machine\./g)]).toEqual([process.execPath, ['of this machine.']])
})

test('npx homeport runs the command of this checkout', () => {
  const { status, stdout } = spawnSync('npx', ['homeport', '--version'], {
    cwd: root,
    env: environment({}),
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  expect(status).toBe(0)
  expect(stdout.trim()).toBe((JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version)
})
