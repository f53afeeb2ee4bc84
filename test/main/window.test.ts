/** How the window becomes visible. Its content: desktop.test.ts. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { chooseSandbox, sandboxFix, sandboxNote } from '../../main/chromium-sandbox.mjs'
import { createTestDesktop, flushPromises } from '../support/test-desktop.ts'
import { app, FakeWindow, fakeElectron } from '../support/fake-electron.ts'
import { createTestClock } from '../support/test-clock.ts'

let testDesktop: ReturnType<typeof createTestDesktop>
beforeEach(() => {
  testDesktop = createTestDesktop()
})
afterEach(() => {
  testDesktop.close()
  vi.restoreAllMocks()
})

describe('the window is shown once', () => {
  /** A page that loads for as long as the test wants, on a system that reports no first frame (Wayland, electron#48859). */
  async function openSlowly() {
    const page = Promise.withResolvers<void>()
    vi.spyOn(FakeWindow.prototype, 'loadURL').mockReturnValue(page.promise)
    const clock = createTestClock({ frozen_at: 0 })
    const started = testDesktop.start({ clock })
    await vi.waitUntil(() => fakeElectron.windows[0])
    const window = testDesktop.window()
    expect(window.is_visible).toBe(false)
    return { page, clock, window, started, shows: vi.spyOn(window, 'show') }
  }

  test.each<[string, (slow: Awaited<ReturnType<typeof openSlowly>>) => unknown]>([
    ['its first frame', ({ window }) => window.emit('ready-to-show')],
    ['its first page', ({ window }) => window.webContents.emit('did-finish-load')],
    ['2 s', ({ clock }) => clock.advance(2_000)],
    ['a failed load', ({ page }) => page.reject(new Error('ERR_FAILED'))],
  ])('by %s', async (_, come) => {
    const slow = await openSlowly()
    await slow.clock.advance(1_999)
    expect(slow.shows).not.toHaveBeenCalled()
    await come(slow)
    await flushPromises()
    expect(slow.shows).toHaveBeenCalledTimes(1)
    slow.window.emit('ready-to-show')
    slow.window.webContents.emit('did-finish-load')
    await slow.clock.advance(10_000)
    slow.page.resolve()
    await slow.started
    expect(slow.shows).toHaveBeenCalledTimes(1)
  })

  test('maximized if it was, and not before there is something to show', async () => {
    mkdirSync(join(testDesktop.folder, 'desktop'), { recursive: true })
    writeFileSync(join(testDesktop.folder, 'desktop', 'window.json'), JSON.stringify({ width: 900, height: 700, is_maximized: true }))
    const slow = await openSlowly()
    expect(slow.window.is_maximized).toBe(false)
    slow.window.emit('ready-to-show')
    expect([slow.window.is_maximized, slow.window.is_visible]).toEqual([true, true])
    slow.page.resolve()
    await slow.started
  })

  test('not after it was closed', async () => {
    const slow = await openSlowly()
    slow.window.close()
    await slow.clock.advance(10_000)
    expect(slow.shows).not.toHaveBeenCalled()
    slow.page.resolve()
    await slow.started
  })
})

test('a failed first load is retried when the window is requested', async () => {
  const load = vi.spyOn(FakeWindow.prototype, 'loadURL').mockRejectedValueOnce(new Error('ERR_CONNECTION_REFUSED'))
  await testDesktop.start()
  expect(fakeElectron.errors).toEqual([expect.stringContaining('ERR_CONNECTION_REFUSED')])
  app.emit('second-instance', {}, ['homeport'])
  await flushPromises()
  expect(load).toHaveBeenCalledTimes(2)
  app.emit('second-instance', {}, ['homeport'])
  await flushPromises()
  expect(load).toHaveBeenCalledTimes(2)
  expect(fakeElectron.errors).toHaveLength(1)
})

test.each([
  ['with', [], true],
  ['without', ['no-sandbox'], false],
])('%s Chromium’s sandbox, according to the flags', async (_, switches, is_sandboxed) => {
  fakeElectron.switches = switches
  await testDesktop.start()
  expect(fakeElectron.is_sandboxed).toBe(is_sandboxed)
})

describe('Chromium’s sandbox on Linux', () => {
  const restricted = '/proc/sys/kernel/apparmor_restrict_unprivileged_userns'
  const off = '/proc/sys/kernel/unprivileged_userns_clone'
  const fix = "sudo chown root:root '/opt/it'\\''s/chrome-sandbox' && sudo chmod 4755 '/opt/it'\\''s/chrome-sandbox'"
  test.each<[string, NodeJS.Platform, Record<string, string>, { uid: number; mode: number } | undefined, string | undefined]>([
    ['works without restrictions', 'linux', { [restricted]: '0\n', [off]: '1\n' }, undefined, undefined],
    ['works on a kernel without the setting', 'linux', {}, undefined, undefined],
    ['is forbidden on Ubuntu 24.04', 'linux', { [restricted]: '1\n' }, { uid: 1000, mode: 0o100755 }, fix],
    ['is forbidden without the helper', 'linux', { [off]: '0\n' }, undefined, fix],
    ['works with a root-owned setuid helper', 'linux', { [restricted]: '1\n' }, { uid: 0, mode: 0o104755 }, undefined],
    ['does not work with a helper that is not setuid', 'linux', { [restricted]: '1\n' }, { uid: 0, mode: 0o100755 }, fix],
    ['is not checked on other systems', 'darwin', { [restricted]: '1\n' }, undefined, undefined],
  ])('%s', (_, platform, files, helper, expected) => {
    expect(sandboxFix("/opt/it's/electron", { platform, uid: 1000, read: (path) => files[path] ?? '', stat: () => helper })).toBe(expected)
  })

  describe('on Ubuntu 24.04', () => {
    const ubuntu = { platform: 'linux' as const, uid: 1000, read: (path: string) => (path === restricted ? '1\n' : ''), stat: () => undefined }
    const choose = (args: string[], system = ubuntu) =>
      chooseSandbox({ args, binary: "/opt/it's/electron", choice_file: join(testDesktop.folder, 'choice') }, system)

    test('Electron is not started, and the message has the commands, until the user decides; the decision is remembered', () => {
      const refused = { flags: [], args: ['--port', '0'], reason: expect.stringContaining(`${fix}\nor always open the window without the sandbox`) }
      expect(choose(['--port', '0'])).toEqual(refused)
      const chosen = { flags: ['--no-sandbox'], args: ['--port', '0'] }
      expect(choose(['--no-sandbox', '--port', '0'])).toEqual(chosen)
      expect(choose(['--port', '0'])).toEqual(chosen)
      expect(choose(['--sandbox', '--port', '0'])).toEqual(refused)
      expect(choose(['--port', '0'])).toEqual(refused)
    })

    test('root runs without it, as Chromium requires, and nothing is remembered', () => {
      expect(choose([], { ...ubuntu, uid: 0 })).toEqual({ flags: ['--no-sandbox'], args: [] })
      expect(existsSync(join(testDesktop.folder, 'choice'))).toBe(false)
    })

    test('the doctor reports a window without it, and what to do', () => {
      expect(sandboxNote("/opt/it's/electron", ubuntu).hint).toContain(`Enable it with ${fix}, then start Homeport with npm start -- --sandbox`)
      expect(sandboxNote('/opt/electron', { ...ubuntu, read: () => '' }).hint).toMatch(/^Start Homeport with npm start -- --sandbox/)
      expect(sandboxNote('/opt/electron', { ...ubuntu, uid: 0 }).hint).toContain('regular user')
    })
  })
})
