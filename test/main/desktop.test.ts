import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { screenshotPartition } from '../../main/screenshotter.ts'
import { createTestDesktop, flushPromises } from '../support/test-desktop.ts'
import { app, BrowserWindow, powerMonitor, fakeElectron } from '../support/fake-electron.ts'

let testDesktop: ReturnType<typeof createTestDesktop>
const start: typeof testDesktop.start = async (options) => testDesktop.start(options)
const onlyWindow = () => testDesktop.window()

beforeEach(() => {
  testDesktop = createTestDesktop()
})
afterEach(() => testDesktop.close())

describe('one instance per data folder', () => {
  test('the lock is that of the data folder', async () => {
    await start()
    expect(fakeElectron.paths.get('userData')).toBe(join(testDesktop.folder, 'desktop'))
  })

  test('a second instance opens no window and exits', async () => {
    fakeElectron.has_single_instance_lock = false
    const said: string[] = []
    await start({ echo: (line) => said.push(line) })
    expect(said).toEqual(['Homeport is already running on this data folder. Its window is now in front.\n'])
    expect(testDesktop.counts.opened).toBe(0)
    expect(fakeElectron.windows).toHaveLength(0)
    expect(fakeElectron.exits).toEqual([0])
  })

  test('a second instance without a terminal exits as well', async () => {
    fakeElectron.has_single_instance_lock = false
    await start()
    expect(fakeElectron.exits).toEqual([0])
  })

  test('a second start brings the first window to the front', async () => {
    await start()
    const window = onlyWindow()
    window.is_minimized = true
    window.is_focused = false
    app.emit('second-instance', {}, ['homeport'])
    await Promise.resolve()
    expect(onlyWindow()).toBe(window)
    expect(window.is_minimized).toBe(false)
    expect(window.is_focused).toBe(true)
  })
})

describe('the window', () => {
  test('is sandboxed, isolated and without Node', async () => {
    await start()
    expect(fakeElectron.is_sandboxed).toBe(true)
    expect(onlyWindow().options.webPreferences).toMatchObject({
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webSecurity: true,
      webviewTag: false,
      preload: '/out/preload/index.cjs',
      partition: 'homeport',
      additionalArguments: ['--homeport-version=9.8.7'],
    })
  })

  test('signs in with a single-use link', async () => {
    await start()
    expect(onlyWindow().loaded).toEqual(['http://127.0.0.1:4600/sign-in?code=once'])
    expect(onlyWindow().is_visible).toBe(true)
  })

  test.each([
    'https://evil.example/',
    'http://127.0.0.1:4601/app/',
    'http://127.0.0.1:4600@evil.example/',
    'file:///etc/passwd',
    'javascript:alert(1)',
  ])('does not navigate to %s', async (url) => {
    await start()
    fakeElectron.message_box_response = 1
    for (const event of ['will-navigate', 'will-redirect', 'will-frame-navigate']) {
      let isPrevented = false
      onlyWindow().webContents.emit(event, { url, preventDefault: () => (isPrevented = true) })
      expect(isPrevented, event).toBe(true)
    }
    expect(fakeElectron.opened_urls).toEqual([])
  })

  test('navigates within its own pages', async () => {
    await start()
    let isPrevented = false
    onlyWindow().webContents.emit('will-navigate', { url: 'http://127.0.0.1:4600/app/projects/shop', preventDefault: () => (isPrevented = true) })
    expect(isPrevented).toBe(false)
  })

  test('opens no second window; the browser opens an app of ours without asking', async () => {
    await start()
    const answer = onlyWindow().webContents.openHandler?.({ url: 'http://shop.localhost:4680/' })
    await Promise.resolve()
    expect(answer).toEqual({ action: 'deny' })
    expect(fakeElectron.opened_urls).toEqual(['http://shop.localhost:4680/'])
    expect(fakeElectron.message_boxes).toEqual([])
  })

  test('asks before it opens a foreign address in the browser, and respects a refusal', async () => {
    await start()
    const { openHandler } = onlyWindow().webContents
    fakeElectron.message_box_response = 1
    openHandler?.({ url: 'https://example.com/x' })
    await flushPromises()
    expect(fakeElectron.message_boxes).toEqual(['Open example.com in your browser?'])
    expect(fakeElectron.opened_urls).toEqual([])
    fakeElectron.message_box_response = 0
    openHandler?.({ url: 'https://example.com/x' })
    await flushPromises()
    expect(fakeElectron.opened_urls).toEqual(['https://example.com/x'])
  })

  test.each(['file:///etc/passwd', 'javascript:alert(1)', 'smb://host/share', 'https://me:secret@example.com/', 'vscode://x'])(
    'never passes %s to the system',
    async (url) => {
      await start()
      onlyWindow().webContents.openHandler?.({ url })
      await flushPromises()
      expect(fakeElectron.message_boxes).toEqual([])
      expect(fakeElectron.opened_urls).toEqual([])
    },
  )

  test('grants the clipboard to its own page and no other permission', async () => {
    await start()
    const ask = (permission: string, url: string) => {
      let isGranted: boolean | undefined
      fakeElectron.permissions.request?.(null, permission, (granted) => (isGranted = granted), { requestingUrl: url })
      expect(fakeElectron.permissions.check?.(null, permission, url)).toBe(isGranted)
      return isGranted
    }
    expect(ask('clipboard-sanitized-write', 'http://127.0.0.1:4600/app/')).toBe(true)
    expect(ask('clipboard-sanitized-write', 'https://evil.example/')).toBe(false)
    for (const permission of ['media', 'geolocation', 'clipboard-read', 'openExternal', 'notifications', 'usb']) {
      expect(ask(permission, 'http://127.0.0.1:4600/app/'), permission).toBe(false)
    }
  })

  test('restores its position', async () => {
    await start()
    onlyWindow().bounds = { x: 300, y: 200, width: 900, height: 700 }
    onlyWindow().close()
    await flushPromises()
    expect(JSON.parse(readFileSync(join(testDesktop.folder, 'desktop', 'window.json'), 'utf8'))).toEqual({
      x: 300,
      y: 200,
      width: 900,
      height: 700,
      is_maximized: false,
      zoom: 0,
    })
    testDesktop.restart()
    await start()
    expect(onlyWindow().options).toMatchObject({ x: 300, y: 200, width: 900, height: 700 })
  })

  test('does not restore a position on a disconnected screen', async () => {
    await start()
    onlyWindow().bounds = { x: 4000, y: 200, width: 900, height: 700 }
    onlyWindow().close()
    await flushPromises()
    testDesktop.restart()
    await start()
    expect(onlyWindow().options.x).toBeUndefined()
    expect(onlyWindow().options.width).toBe(900)
  })
})

describe('the restored window', () => {
  const remember = (bounds: object | string) => {
    mkdirSync(join(testDesktop.folder, 'desktop'), { recursive: true })
    writeFileSync(join(testDesktop.folder, 'desktop', 'window.json'), typeof bounds === 'string' ? bounds : JSON.stringify(bounds))
  }

  test('is on the second screen, left of the first', async () => {
    fakeElectron.displays = [{ workArea: { x: 0, y: 0, width: 1920, height: 1080 } }, { workArea: { x: -1280, y: 40, width: 1280, height: 984 } }]
    remember({ x: -1000, y: 60, width: 900, height: 700, is_maximized: false })
    await start()
    expect(onlyWindow().options).toMatchObject({ x: -1000, y: 60, width: 900, height: 700 })
  })

  test('is no larger than its screen', async () => {
    fakeElectron.displays = [{ workArea: { x: 0, y: 0, width: 1280, height: 720 } }]
    remember({ x: 10, y: 10, width: 3000, height: 2000, is_maximized: true, zoom: 0 })
    await start()
    expect(onlyWindow().options).toMatchObject({ x: 10, y: 10, width: 1280, height: 720 })
    expect(onlyWindow().is_maximized).toBe(true)
  })

  test('restores the zoom', async () => {
    await start()
    onlyWindow().webContents.zoom = 1.5
    onlyWindow().close()
    testDesktop.restart()
    await start()
    expect(onlyWindow().webContents.zoom).toBe(1.5)
  })

  test.each(['', '{', 'null', '[]', { width: 'wide', height: 1, is_maximized: false }, { width: 900, height: 700, is_maximized: false, zoom: 'x' }])(
    'uses the default position when the file is %j',
    async (bounds) => {
      remember(bounds)
      await start()
      expect(onlyWindow().options).toMatchObject({ width: 1280, height: 820 })
      expect(onlyWindow().webContents.zoom).toBe(0)
    },
  )

  test('a position that cannot be saved does not keep the window open', async () => {
    await start()
    mkdirSync(join(testDesktop.folder, 'desktop', 'window.json'))
    const window = onlyWindow()
    window.close()
    expect(fakeElectron.windows).toEqual([])
  })
})

test('a page being captured for a screenshot may navigate freely, and opens no browser', async () => {
  await start()
  const window = new BrowserWindow({ webPreferences: { partition: screenshotPartition } })
  const event = { url: 'http://shop.localhost:4680/home', isPrevented: false, preventDefault: () => (event.isPrevented = true) }
  window.webContents.emit('will-redirect', event)
  await flushPromises()
  expect([event.isPrevented, fakeElectron.opened_urls, fakeElectron.message_boxes]).toEqual([false, [], []])
})

describe('a deep link', () => {
  const sent = () => onlyWindow().webContents.sent
  const unknown = 'This link does not match any page in Homeport. Showing your projects instead.'

  test('that started the app opens its page once the window is up', async () => {
    await start({ argv: ['--data', '/x', '--', 'homeport://projects/shop/logs'] })
    expect(sent()).toEqual([['homeport:navigate', '/projects/shop/logs', null]])
  })

  test('of a second start opens in the first', async () => {
    await start()
    app.emit('second-instance', {}, ['homeport', '--', 'homeport://instance/disk'])
    await flushPromises()
    expect(sent()).toEqual([['homeport:navigate', '/instance/disk', null]])
  })

  test('received from macOS before startup waits', async () => {
    const started = start()
    let isPrevented = false
    app.emit('open-url', { preventDefault: () => (isPrevented = true) }, 'homeport://projects/shop')
    await started
    expect(isPrevented).toBe(true)
    expect(sent()).toEqual([['homeport:navigate', '/projects/shop', null]])
  })

  test('reopens a closed window, which shows the progress of builds', async () => {
    await start()
    onlyWindow().close()
    testDesktop.feed.emitUpdate({ active_deployments: 1 })
    app.emit('open-url', { preventDefault: () => {} }, 'homeport://projects/shop')
    await flushPromises()
    expect(sent()).toEqual([['homeport:navigate', '/projects/shop', null]])
    expect(onlyWindow().progress).toBe(2)
  })

  test.each(['homeport://evil.example/', 'homeport:projects/shop', 'homeport://projects/shop/../../sign-in?code=x', 'HOMEPORT://sign-in'])(
    'that is invalid (%s) opens the projects, with a message',
    async (link) => {
      await start({ argv: [link] })
      expect(sent()).toEqual([['homeport:navigate', '/projects', unknown]])
      expect(onlyWindow().loaded).toEqual(['http://127.0.0.1:4600/sign-in?code=once'])
      expect(fakeElectron.opened_urls).toEqual([])
    },
  )

  test('is registered with the system, with the command of a checkout', async () => {
    await start()
    expect(fakeElectron.protocol_clients).toEqual([{ scheme: 'homeport', path: process.execPath, args: ['/checkout', '--'] }])
  })
})

describe('a crashed page', () => {
  const gone = (reason: string) => onlyWindow().webContents.emit('render-process-gone', {}, { reason, exitCode: 11 })

  test('is reloaded once, then a plain page says what to do', async () => {
    await start()
    gone('crashed')
    expect(onlyWindow().webContents.reloads).toBe(1)
    gone('oom')
    expect(onlyWindow().webContents.reloads).toBe(1)
    const last = onlyWindow().loaded.at(-1) ?? ''
    expect(last.startsWith('data:text/html')).toBe(true)
    const page = decodeURIComponent(last)
    expect(page).toContain('href="http://127.0.0.1:4600/app/"')
    expect(page).toContain(join(testDesktop.folder, 'desktop', 'logs'))
    expect(page).toContain("default-src 'none'")
    expect(readFileSync(join(testDesktop.folder, 'desktop', 'logs', 'main.log'), 'utf8')).toContain('"reason":"oom"')
  })

  test('does not include a clean exit', async () => {
    await start()
    gone('clean-exit')
    expect([onlyWindow().webContents.reloads, onlyWindow().loaded.length]).toEqual([0, 1])
  })

  test('a destroyed window is left alone', async () => {
    await start()
    onlyWindow().is_destroyed = true
    gone('killed')
    expect(onlyWindow().webContents.reloads).toBe(0)
  })
})

test('a dashboard that fails to load is reported, and Homeport keeps running', async () => {
  testDesktop.platform.signInUrl = async () => Promise.reject(new Error('The database is busy.'))
  await start()
  expect(fakeElectron.errors[0]).toContain('The dashboard could not be opened: The database is busy.')
  expect(testDesktop.counts.stopped).toBe(0)
})

test('certificate errors and HTTP authentication are never accepted for a page', async () => {
  await start()
  for (const event of ['certificate-error', 'select-client-certificate', 'login']) expect(app.listenerCount(event), event).toBe(0)
})

describe('quitting', () => {
  test('during startup', async () => {
    let isUp = () => {}
    const started = start({
      startPlatform: () => new Promise((resolve) => (isUp = () => resolve(testDesktop.platform))),
    })
    await flushPromises()
    app.quit()
    isUp()
    await started
    await flushPromises()
    expect([fakeElectron.windows, testDesktop.counts.stopped, fakeElectron.quits]).toEqual([[], 1, 1])
  })

  test('stops the platform once, then exits', async () => {
    await start()
    app.quit()
    app.quit()
    expect(fakeElectron.quits).toBe(0)
    await flushPromises()
    expect(testDesktop.counts.stopped).toBe(1)
    expect(fakeElectron.quits).toBe(1)
  })

  test('closing a screenshot window before the dashboard is up does not quit', async () => {
    await start()
    app.emit('window-all-closed')
    await flushPromises()
    expect([testDesktop.counts.stopped, fakeElectron.quits]).toEqual([0, 0])
  })

  test('exits although the platform fails to stop', async () => {
    testDesktop.platform.stop = async () => Promise.reject(new Error('stuck'))
    await start()
    app.quit()
    await flushPromises()
    expect(fakeElectron.quits).toBe(1)
  })

  test('exits after 10 s although the platform never stops', async () => {
    testDesktop.platform.stop = () => new Promise(() => {})
    await start()
    app.quit()
    await testDesktop.clock.advance(9_999)
    expect(fakeElectron.quits).toBe(0)
    await testDesktop.clock.advance(1)
    await flushPromises()
    expect(fakeElectron.quits).toBe(1)
  })

  test('a platform that cannot start is explained, and leaves no window', async () => {
    await start({ startPlatform: async () => Promise.reject(new Error('Port 4600 is in use.')) })
    expect(fakeElectron.errors).toEqual([
      `Homeport cannot start: Port 4600 is in use.\n\nThe log is in ${join(testDesktop.folder, 'desktop', 'logs')}`,
    ])
    expect(fakeElectron.exits).toEqual([1])
    expect(existsSync(join(testDesktop.folder, 'desktop', 'window.json'))).toBe(false)
  })
})

test('after the machine slept the platform refreshes its state', async () => {
  await start()
  powerMonitor.emit('resume')
  expect(testDesktop.counts.resynced).toBe(1)
})
