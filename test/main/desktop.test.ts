import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type City, runDesktop } from '../../main/desktop.ts'
import { cameraPartition } from '../../main/screenshotter.ts'
import { app, BrowserWindow, type FakeWindow, powerMonitor, reset, world } from '../support/electron-double.ts'

let folder: string
let opened: number
let stopped: number
let resynced: number
let stop: () => Promise<void>

const city: City = {
  api_url: 'http://127.0.0.1:4600',
  edge_url: 'http://localhost:4680',
  dashboard_url: 'http://127.0.0.1:4600/app/',
  version: '9.8.7',
  signInUrl: async () => 'http://127.0.0.1:4600/sign-in?code=once',
  resync: () => void (resynced += 1),
  stop: () => stop(),
}

const start = () =>
  runDesktop({
    data_dir: folder,
    preload: '/out/preload/index.cjs',
    openCity: async () => {
      opened += 1
      return city
    },
  })

const onlyWindow = (): FakeWindow => {
  expect(world.windows).toHaveLength(1)
  return world.windows[0]!
}

beforeEach(() => {
  reset()
  folder = mkdtempSync(join(tmpdir(), 'homeport-desktop-'))
  opened = stopped = resynced = 0
  stop = async () => void (stopped += 1)
})
afterEach(() => {
  process.removeAllListeners('SIGTERM')
  process.removeAllListeners('SIGINT')
  rmSync(folder, { recursive: true, force: true })
})

describe('one instance per data folder', () => {
  test('the lock is that of the data folder', async () => {
    await start()
    expect(world.paths.get('userData')).toBe(join(folder, 'desktop'))
  })

  test('a second instance opens nothing and ends', async () => {
    world.has_lock = false
    await start()
    expect(opened).toBe(0)
    expect(world.windows).toHaveLength(0)
    expect(world.exits).toEqual([0])
  })

  test('a second start brings the first window to the front', async () => {
    await start()
    const window = onlyWindow()
    window.is_minimized = true
    window.is_focused = false
    app.emit('second-instance')
    await Promise.resolve()
    expect(onlyWindow()).toBe(window)
    expect(window.is_minimized).toBe(false)
    expect(window.is_focused).toBe(true)
  })
})

describe('the window', () => {
  test('is sandboxed, isolated and without Node', async () => {
    await start()
    expect(world.is_sandboxed).toBe(true)
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

  test('signs in by a link that works once', async () => {
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
  ])('does not go to %s', async (url) => {
    await start()
    world.answer = 1
    for (const event of ['will-navigate', 'will-redirect', 'will-frame-navigate']) {
      let isPrevented = false
      onlyWindow().webContents.emit(event, { url, preventDefault: () => (isPrevented = true) })
      expect(isPrevented, event).toBe(true)
    }
    expect(world.opened).toEqual([])
  })

  test('goes about its own pages', async () => {
    await start()
    let isPrevented = false
    onlyWindow().webContents.emit('will-navigate', { url: 'http://127.0.0.1:4600/app/projects/shop', preventDefault: () => (isPrevented = true) })
    expect(isPrevented).toBe(false)
  })

  test('opens no second window; an app of ours goes to the browser without a question', async () => {
    await start()
    const answer = onlyWindow().webContents.openHandler?.({ url: 'http://shop.localhost:4680/' })
    await Promise.resolve()
    expect(answer).toEqual({ action: 'deny' })
    expect(world.opened).toEqual(['http://shop.localhost:4680/'])
    expect(world.questions).toEqual([])
  })

  test('asks before a foreign address goes to the browser, and takes no for an answer', async () => {
    await start()
    const { openHandler } = onlyWindow().webContents
    world.answer = 1
    openHandler?.({ url: 'https://example.com/x' })
    await settled()
    expect(world.questions).toEqual(['Open example.com in your browser?'])
    expect(world.opened).toEqual([])
    world.answer = 0
    openHandler?.({ url: 'https://example.com/x' })
    await settled()
    expect(world.opened).toEqual(['https://example.com/x'])
  })

  test.each(['file:///etc/passwd', 'javascript:alert(1)', 'smb://host/share', 'https://me:secret@example.com/', 'vscode://x'])(
    'never hands %s to the system',
    async (url) => {
      await start()
      onlyWindow().webContents.openHandler?.({ url })
      await settled()
      expect(world.questions).toEqual([])
      expect(world.opened).toEqual([])
    },
  )

  test('grants the clipboard to its own page and nothing else to anybody', async () => {
    await start()
    const ask = (permission: string, url: string) => {
      let isGranted: boolean | undefined
      world.permissions.request?.(null, permission, (granted) => (isGranted = granted), { requestingUrl: url })
      expect(world.permissions.check?.(null, permission, url)).toBe(isGranted)
      return isGranted
    }
    expect(ask('clipboard-sanitized-write', 'http://127.0.0.1:4600/app/')).toBe(true)
    expect(ask('clipboard-sanitized-write', 'https://evil.example/')).toBe(false)
    for (const permission of ['media', 'geolocation', 'clipboard-read', 'openExternal', 'notifications', 'usb']) {
      expect(ask(permission, 'http://127.0.0.1:4600/app/'), permission).toBe(false)
    }
  })

  test('comes back where it was', async () => {
    await start()
    onlyWindow().bounds = { x: 300, y: 200, width: 900, height: 700 }
    onlyWindow().close()
    await settled()
    expect(JSON.parse(readFileSync(join(folder, 'desktop', 'window.json'), 'utf8'))).toEqual({
      x: 300,
      y: 200,
      width: 900,
      height: 700,
      is_maximized: false,
    })
    reset()
    await start()
    expect(onlyWindow().options).toMatchObject({ x: 300, y: 200, width: 900, height: 700 })
  })

  test('does not come back on a screen that is gone', async () => {
    await start()
    onlyWindow().bounds = { x: 4000, y: 200, width: 900, height: 700 }
    onlyWindow().close()
    await settled()
    reset()
    await start()
    expect(onlyWindow().options.x).toBeUndefined()
    expect(onlyWindow().options.width).toBe(900)
  })
})

test('a page before the camera is none of the dashboard’s: where it goes is its own affair, and no browser opens for it', async () => {
  await start()
  const window = new BrowserWindow({ webPreferences: { partition: cameraPartition } })
  const event = { url: 'http://shop.localhost:4680/home', isPrevented: false, preventDefault: () => (event.isPrevented = true) }
  window.webContents.emit('will-redirect', event)
  await settled()
  expect([event.isPrevented, world.opened, world.questions]).toEqual([false, [], []])
})

describe('the end', () => {
  test('stops the platform once, then ends', async () => {
    await start()
    app.quit()
    app.quit()
    expect(world.quits).toBe(0)
    await settled()
    expect(stopped).toBe(1)
    expect(world.quits).toBe(1)
  })

  test('a picture that was taken before the dashboard is up ends nothing', async () => {
    await start()
    app.emit('window-all-closed')
    await settled()
    expect([stopped, world.quits]).toEqual([0, 0])
  })

  test('ends although the platform fails to stop', async () => {
    stop = async () => Promise.reject(new Error('stuck'))
    await start()
    app.quit()
    await settled()
    expect(world.quits).toBe(1)
  })

  test('closing the last window ends it, except on macOS', async () => {
    await start()
    onlyWindow().close()
    await settled()
    expect(stopped).toBe(process.platform === 'darwin' ? 0 : 1)
  })

  test('a platform that cannot start is explained, and leaves no window', async () => {
    await runDesktop({ data_dir: folder, preload: '', openCity: async () => Promise.reject(new Error('Port 4600 is taken.')) })
    expect(world.errors).toEqual(['Homeport cannot start: Port 4600 is taken.'])
    expect(world.exits).toEqual([1])
    expect(existsSync(join(folder, 'desktop', 'window.json'))).toBe(false)
  })
})

test('after the machine slept the platform looks at the world anew', async () => {
  await start()
  powerMonitor.emit('resume')
  expect(resynced).toBe(1)
})

/** Lets every promise that is on its way come to its end. */
const settled = () => new Promise((resolve) => setImmediate(resolve))
