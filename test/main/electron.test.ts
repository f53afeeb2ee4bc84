/** The real Electron, where its binary and a display are: what the double cannot vouch for. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { _electron } from '@playwright/test'
import { describe, expect, test } from 'vitest'
import { hasTrayHost } from '../../main/tray-host.ts'
import { channels } from '../../preload/bridge.ts'
import { newFolder, root } from '../support/instance-process.ts'
import { requires } from '../support/requirements.ts'

describe.skipIf(!requires('electron').ok)('the real desktop', () => {
  test(
    'starts the platform, signs its window in, keeps Node out of the page, goes where a link leads, and ends in order',
    { timeout: 180_000 },
    async () => {
      // Builds what changed.
      execFileSync(process.execPath, [join(root, 'server/cli/homeport.mjs'), '--version'])
      const folder = newFolder('electron')
      const asRoot = process.platform === 'linux' && process.getuid?.() === 0
      const options = ['--data', folder.path, '--port', '0', '--edge-port', '0', '--runtime', 'process']
      const args = [...(asRoot ? ['--no-sandbox'] : []), root, ...options, '--', 'homeport://instance/disk']
      const env = { ...process.env, XDG_CONFIG_HOME: join(folder.path, 'config') } as Record<string, string>
      const app = await _electron.launch({ args, cwd: root, env })
      try {
        const shown = await app.firstWindow()
        await shown.waitForURL(/\/app\/instance\/disk$/)
        const instance = JSON.parse(readFileSync(join(folder.path, 'instance.json'), 'utf8')) as { dashboard_url: string; token: string }
        expect(shown.url().startsWith(instance.dashboard_url)).toBe(true)

        const page = await shown.evaluate(() => ({
          node: [typeof Reflect.get(window, 'require'), typeof Reflect.get(window, 'process'), typeof Reflect.get(window, 'Buffer')],
          bridge: Object.keys(window.homeport ?? {}).sort(),
          cookie: document.cookie,
          storage: [localStorage, sessionStorage].flatMap((one) => Object.entries(one)).join(),
        }))
        expect(page.node).toEqual(['undefined', 'undefined', 'undefined'])
        const beside = ['onDesktop', 'onNavigate', 'pathOf', 'platform', 'version']
        expect(page.bridge).toEqual([...Object.keys(channels), ...beside].sort())
        expect(page.cookie + page.storage).not.toContain(instance.token)
        expect(page.cookie).toBe('')

        const session = (await shown.evaluate(() => localStorage.getItem('homeport.session'))) ?? ''
        const answer = await shown.evaluate(
          async (secret) => (await fetch('/instance/session', { headers: { 'x-homeport-session': secret } })).status,
          session,
        )
        expect(answer).toBe(200)
        // The second wall: what the policy of the page would allow does not go out either.
        const outside = await shown.evaluate(async () =>
          fetch('http://localhost:9/', { mode: 'no-cors' }).then(
            () => 'out',
            () => 'refused',
          ),
        )
        expect(outside).toBe('refused')

        const preferences = await app.evaluate(({ BrowserWindow }) => {
          const [window] = BrowserWindow.getAllWindows()
          // There since the first Electron, and not in its types.
          return window && (window.webContents as unknown as { getLastWebPreferences(): Record<string, unknown> }).getLastWebPreferences()
        })
        expect(preferences).toMatchObject({ sandbox: true, contextIsolation: true, nodeIntegration: false, webSecurity: true, partition: 'homeport' })

        const system = await app.evaluate(({ app, Menu }) => ({
          name: app.getName(),
          data: app.getPath('userData'),
          crashes: app.getPath('crashDumps'),
          menu: Menu.getApplicationMenu()?.items.map(({ label, role }) => label || role),
        }))
        expect(system).toMatchObject({
          name: 'Homeport',
          data: join(folder.path, 'desktop'),
          crashes: join(folder.path, 'desktop', 'logs', 'crashes'),
        })
        expect(system.menu).toContain('&Go')

        const state = await shown.evaluate(async () => window.homeport?.readDesktop())
        expect(state?.update.name).toBe('off')
        // There is a tray where this system shows one.
        expect(state?.keeps_running).toBe((await hasTrayHost()) || process.platform === 'darwin' ? true : null)

        // A second start hands its link over, and ends.
        execFileSync(app.process().spawnfile, [...args.slice(0, -1), 'homeport://projects'], { cwd: root, env, timeout: 30_000 })
        await shown.waitForURL(/\/app\/projects$/)
      } finally {
        // A window that closes may leave Homeport in the tray: it is told to end.
        await app.evaluate(({ app }) => app.quit()).catch(() => undefined)
        await app.close()
      }
      expect(existsSync(join(folder.path, 'instance.json'))).toBe(false)
      expect(readFileSync(join(folder.path, 'desktop', 'logs', 'main.log'), 'utf8')).toContain('"event":"ended"')
      folder.remove()
    },
  )
})
