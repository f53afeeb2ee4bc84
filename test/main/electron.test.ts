/** The real Electron, where its binary and a display are: what the double cannot vouch for. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { _electron } from '@playwright/test'
import { describe, expect, test } from 'vitest'
import { newFolder, root } from '../support/instance-process.ts'
import { requires } from '../support/requirements.ts'

describe.skipIf(!requires('electron').ok)('the real desktop', () => {
  test('starts the platform, signs its window in, keeps Node out of the page, and ends in order', { timeout: 180_000 }, async () => {
    // Builds what changed.
    execFileSync(process.execPath, [join(root, 'server/cli/homeport.mjs'), '--version'])
    const folder = newFolder('electron')
    const asRoot = process.platform === 'linux' && process.getuid?.() === 0
    const app = await _electron.launch({
      args: [...(asRoot ? ['--no-sandbox'] : []), root, '--data', folder.path, '--port', '0', '--edge-port', '0', '--runtime', 'process'],
      cwd: root,
    })
    try {
      const shown = await app.firstWindow()
      await shown.waitForURL(/\/app\//)
      const instance = JSON.parse(readFileSync(join(folder.path, 'instance.json'), 'utf8')) as { dashboard_url: string; token: string }
      expect(shown.url().startsWith(instance.dashboard_url)).toBe(true)

      const page = await shown.evaluate(() => ({
        node: [typeof Reflect.get(window, 'require'), typeof Reflect.get(window, 'process'), typeof Reflect.get(window, 'Buffer')],
        bridge: Object.keys(window.homeport ?? {}).sort(),
        cookie: document.cookie,
        storage: [localStorage, sessionStorage].flatMap((one) => Object.entries(one)).join(),
      }))
      expect(page.node).toEqual(['undefined', 'undefined', 'undefined'])
      expect(page.bridge).toEqual(['chooseFolder', 'notify', 'onNavigate', 'openExternal', 'platform', 'setProgress', 'version'])
      expect(page.cookie + page.storage).not.toContain(instance.token)
      expect(page.cookie).toBe('')

      const answer = await shown.evaluate(async () => (await fetch('/instance/session')).status)
      expect(answer).toBe(200)
    } finally {
      await app.close()
    }
    expect(existsSync(join(folder.path, 'instance.json'))).toBe(false)
    folder.remove()
  })
})
