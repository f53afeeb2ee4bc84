/**
 * The real Electron, if its binary and a display are available: what the fake cannot prove. `npm run desktop:smoke` runs only this file;
 * the report at its end can be pasted, with the manual checks of main/README.md.
 */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { release } from 'node:os'
import { dirname, join } from 'node:path'
import { _electron } from '@playwright/test'
import { expect, test } from 'vitest'
import { sandboxFix } from '../../main/chromium-sandbox.mjs'
import { electronBinary } from '../../main/electron-binary.mjs'
import { hasTrayHost } from '../../main/tray-host.ts'
import { channels } from '../../preload/bridge.ts'
import type { Deployment } from '../../server/contract/deployments.ts'
import type { InstanceFile } from '../../server/lib/instance-file.ts'
import { runHomeport, createTempFolder, root } from '../support/instance-process.ts'
import { createClient } from '../support/platform.ts'
import { isProcessRunning } from '../support/processes.ts'
import { requires } from '../support/requirements.ts'
import { until } from '../support/until.ts'

/** The maximum time for a window to appear, and for quitting. */
const timeout_ms = 10_000

const electronRequirement = requires('electron')
/** Run explicitly it must not be skipped, especially in the workflow. */
const isAsked = process.env.npm_lifecycle_event === 'desktop:smoke'

test.skipIf(!electronRequirement.ok && !isAsked)('the desktop on this machine', { timeout: 300_000 }, async () => {
  if (!electronRequirement.ok) throw new Error(`This machine cannot run the desktop: ${electronRequirement.reason}.`)
  // Builds what changed.
  execFileSync(process.execPath, [join(root, 'server/cli/homeport.mjs'), '--version'])
  const folder = createTempFolder('electron')
  const pictures = join(root, 'test-results/desktop')
  mkdirSync(pictures, { recursive: true })
  const { lines, failed, check } = createReport()

  const binary = electronBinary(dirname(createRequire(import.meta.url).resolve('electron/package.json')))!
  const isRoot = process.platform === 'linux' && process.getuid?.() === 0
  const isSandboxed = !isRoot && sandboxFix(binary) === undefined
  const options = ['--data', folder.path, '--port', '0', '--edge-port', '0', '--runtime', 'process']
  const args = [...(isSandboxed ? [] : ['--no-sandbox']), root, ...options]
  const env = { ...process.env, XDG_CONFIG_HOME: join(folder.path, 'config') } as Record<string, string>
  const begun = performance.now()
  const app = await _electron.launch({ executablePath: binary, args: [...args, '--', 'homeport://instance/disk'], cwd: root, env })
  const child = app.process()
  const ended = once(child, 'exit')
  try {
    const shown = await app.firstWindow()
    await check('a window is visible within 10 s', async () => {
      const isVisible = () => app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().some((window) => window.isVisible()))
      await until(async () => (await isVisible()) || undefined, { what: 'a visible window' })
      expect(performance.now() - begun).toBeLessThan(timeout_ms)
    })
    await check('it signs in and goes where the link of the start leads', () => shown.waitForURL(/\/app\/instance\/disk$/))
    const instance = JSON.parse(readFileSync(join(folder.path, 'instance.json'), 'utf8')) as InstanceFile

    await check('the page has the bridge, and no Node', async () => {
      const page = await shown.evaluate(() => ({
        node: ['require', 'process', 'Buffer'].map((name) => typeof Reflect.get(window, name)),
        bridge: Object.keys(window.homeport ?? {}).sort(),
      }))
      expect(page.node).toEqual(['undefined', 'undefined', 'undefined'])
      expect(page.bridge).toEqual([...Object.keys(channels), 'getPathForFile', 'onDesktopState', 'onNavigate', 'platform', 'version'].sort())
    })
    await check('the page is isolated, and sandboxed where this system allows it', async () => {
      const { preferences, pages } = await app.evaluate(({ app: electron, BrowserWindow }) => {
        const [window] = BrowserWindow.getAllWindows()
        // Available since the first Electron, but missing in its types.
        const contents = window?.webContents as unknown as { getLastWebPreferences(): Record<string, unknown> } | undefined
        return { preferences: contents?.getLastWebPreferences(), pages: electron.getAppMetrics().filter(({ type }) => type === 'Tab') }
      })
      expect(preferences).toMatchObject({ sandbox: true, contextIsolation: true, nodeIntegration: false, webSecurity: true, partition: 'homeport' })
      // Linux does not report it.
      if (isSandboxed && process.platform !== 'linux') expect(pages.every(({ sandboxed }) => sandboxed)).toBe(true)
    })
    await check('it is signed in without a cookie and without the token of the instance', async () => {
      const page = await shown.evaluate(async () => ({
        cookie: document.cookie,
        storage: [localStorage, sessionStorage].flatMap((one) => Object.entries(one)).join(),
        status: (await fetch('/instance/session', { headers: { 'x-homeport-session': localStorage.getItem('homeport.session') ?? '' } })).status,
      }))
      expect(page).toEqual({ cookie: '', storage: expect.not.stringContaining(instance.token), status: 200 })
    })
    await check('nothing of the page goes out, whatever its policy would allow', async () => {
      const outside = await shown.evaluate(async () =>
        fetch('http://localhost:9/', { mode: 'no-cors' }).then(
          () => 'out',
          () => 'refused',
        ),
      )
      expect(outside).toBe('refused')
    })
    await check('name, folders and menu are Homeport’s', async () => {
      const system = await app.evaluate(({ app: electron, Menu }) => ({
        name: electron.getName(),
        data: electron.getPath('userData'),
        crashes: electron.getPath('crashDumps'),
        menu: Menu.getApplicationMenu()?.items.map(({ label, role }) => label || role),
      }))
      const desktop = join(folder.path, 'desktop')
      expect(system).toMatchObject({ name: 'Homeport', data: desktop, crashes: join(desktop, 'logs', 'crashes') })
      expect(system.menu).toContain('&Go')
    })
    await check('there is a tray where this system shows one', async () => {
      const state = await shown.evaluate(async () => window.homeport?.readDesktop())
      expect(state?.update.name).toBe('off')
      expect(state?.keeps_running).toBe((await hasTrayHost()) || process.platform === 'darwin' ? true : null)
    })
    await check('a second start hands its link over, and ends', async () => {
      execFileSync(binary, [...args, '--', 'homeport://projects'], { cwd: root, env, timeout: 30_000 })
      await shown.waitForURL(/\/app\/projects$/)
    })
    await check('a folder with an .asar file in it is deployed, and served whole', async () => {
      const site = join(folder.path, 'site')
      mkdirSync(site)
      writeFileSync(join(site, 'index.html'), '<!doctype html><title>Smoke</title><h1 style="color: teal">It works</h1>')
      writeFileSync(join(site, 'download.asar'), 'no archive')
      const { code, err } = await runHomeport(['deploy', site, '--project', 'smoke'], { env: { HOMEPORT_DATA: folder.path } })
      expect([code, err]).toEqual([0, expect.any(String)])
      const { status, body } = await createClient(instance).fetchEdge('smoke', '/download.asar')
      expect([status, body]).toEqual([200, 'no archive'])
    })
    await check('a picture of it is taken in a hidden window', async () => {
      const { api } = createClient(instance)
      const { deployments } = (await api<{ deployments: Deployment[] }>('GET', '/v1/projects/smoke/deployments')).body
      const url = `${instance.api_url}/v1/projects/smoke/deployments/${deployments[0]!.id}/screenshot/desktop.png`
      const png = await until(
        async () => {
          const answer = await fetch(url, { headers: { authorization: `Bearer ${instance.token}` } })
          return answer.ok ? Buffer.from(await answer.arrayBuffer()) : undefined
        },
        { what: 'the picture' },
      )
      writeFileSync(join(pictures, 'app.png'), png)
    })
    await check('the dashboard can be looked at', async () => {
      const png = await shown.screenshot({ path: join(pictures, 'dashboard.png') })
      // A blank page is a few kilobytes.
      expect(png.length).toBeGreaterThan(10_000)
    })
    await check('it quits within 10 s, and leaves nothing running', async () => {
      const pids = await app.evaluate(({ app: electron }) => electron.getAppMetrics().map(({ pid }) => pid))
      const quit = performance.now()
      // The response is lost if the process exits first.
      await app.evaluate(({ app: electron }) => electron.quit()).catch(() => undefined)
      await ended
      expect(performance.now() - quit).toBeLessThan(timeout_ms)
      await until(() => pids.every((pid) => !isProcessRunning(pid)) || undefined, { what: 'the end of all processes' })
      expect(existsSync(join(folder.path, 'instance.json'))).toBe(false)
      expect(readFileSync(join(folder.path, 'desktop', 'logs', 'main.log'), 'utf8')).toContain('"event":"stopped"')
    })
  } finally {
    if (child.exitCode === null) child.kill('SIGKILL')
    const { version } = createRequire(import.meta.url)('electron/package.json') as { version: string }
    const { XDG_SESSION_TYPE = '', XDG_CURRENT_DESKTOP = '' } = process.env
    const system = [process.platform, release(), process.arch, XDG_SESSION_TYPE, XDG_CURRENT_DESKTOP].filter(Boolean).join(' ')
    console.log(
      [`Homeport desktop smoke test: ${system}, Electron ${version}, sandbox ${isSandboxed ? 'on' : 'off'}`, ...lines, `Pictures: ${pictures}`].join(
        '\n',
      ),
    )
    folder.remove()
  }
  expect(failed).toEqual([])
})

/** Each check with its duration. A failed one does not stop the others, so that a remote report is complete. */
function createReport() {
  const lines: string[] = []
  const failed: string[] = []
  return {
    lines,
    failed,
    async check(name: string, work: () => Promise<unknown>): Promise<void> {
      const begun = performance.now()
      const error = await work().then(
        () => undefined,
        (reason: unknown) => String(reason),
      )
      const seconds = ((performance.now() - begun) / 1000).toFixed(1)
      lines.push(`${error === undefined ? 'ok    ' : 'FAILED'} ${seconds.padStart(5)} s  ${name}`)
      if (error === undefined) return
      failed.push(name)
      lines.push(error.replace(/^/gm, '         '))
    },
  }
}
