import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { newFolder, root } from '../support/instance-process.ts'
import { readInstanceFile } from '../../server/lib/instance-file.ts'
import { until } from '../support/until.ts'

let folder: ReturnType<typeof newFolder>
beforeEach(() => void (folder = newFolder('start')))
afterEach(() => folder.remove())

/** The environment of a person, without what a test runner or npm adds. */
function environment(more: Record<string, string>): NodeJS.ProcessEnv {
  const own = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(HOMEPORT_|VITEST|DISPLAY$|WAYLAND_DISPLAY$|ELECTRON_|npm_)/.test(name)),
  )
  return { ...own, NO_COLOR: '1', HOMEPORT_DATA: join(folder.path, 'data'), ...more }
}

describe('npm start', () => {
  test('without a display: the same platform headless, one sentence why, and where to sign in', async () => {
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
      // Deep below its root, as who comes by a link: the addresses in it must hold there too.
      const deep = new URL('projects/some', instance!.dashboard_url)
      const page = await (await fetch(deep)).text()
      const script = new URL(/type="module"[^>]* src="([^"]+\.js)"/.exec(page)?.[1] ?? 'no-script', deep)
      expect((await fetch(script)).headers.get('content-type')).toContain('javascript')
    } finally {
      child.kill('SIGTERM')
    }
    expect((await ended)[0]).toBe(0)
  })

  test('with a display and the binary: the desktop, with the options passed on', () => {
    const dist = join(folder.path, 'dist')
    mkdirSync(dist)
    // A stand-in for Electron's binary that says what it was asked to do.
    writeFileSync(join(dist, 'electron'), `#!/bin/sh\nprintf '%s\\n' "$@" > "${folder.path}/asked"\n`)
    chmodSync(join(dist, 'electron'), 0o755)
    const { status } = spawnSync(process.execPath, [join(root, 'main/start.mjs'), '--port', '0'], {
      env: environment({ DISPLAY: ':99', ELECTRON_OVERRIDE_DIST_PATH: dist }),
    })
    expect(status).toBe(0)
    const asked = readFileSync(join(folder.path, 'asked'), 'utf8').trim().split('\n')
    expect(asked.filter((word) => word !== '--no-sandbox')).toEqual([root, '--port', '0'])
  })

  test('with a binary that cannot run here: headless, and it says so', async () => {
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
    expect(err).toContain('Homeport runs without a window: Electron ended at once (exit code 127')
    expect(code).toBe(2)
  })

  test('with a display but no binary, and a release host that does not answer: headless, and it says which host', async () => {
    const child = spawn(process.execPath, [join(root, 'main/start.mjs'), '--port', 'none'], {
      env: environment({ DISPLAY: ':99', ELECTRON_OVERRIDE_DIST_PATH: join(folder.path, 'nothing'), ELECTRON_MIRROR: 'http://127.0.0.1:9/' }),
    })
    let err = ''
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number]
    expect(err).toContain('127.0.0.1:9 does not answer')
    // The flag that `serve` refuses shows that it was asked.
    expect(code).toBe(2)
  })
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
