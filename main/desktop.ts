import { app, type BrowserWindow, dialog, Menu, powerMonitor, shell } from 'electron'
import { join } from 'node:path'
import { channels } from '../preload/bridge.ts'
import { answerBridge } from './ipc.ts'
import { createMenu } from './menu.ts'
import { isCamera } from './screenshotter.ts'
import { confine, confineSession, createWindow } from './window.ts'

/** The platform as the desktop sees it. */
export interface City {
  api_url: string
  edge_url: string
  dashboard_url: string
  version: string
  /** A fresh link that signs a browser in, once. */
  signInUrl(): Promise<string>
  /** Looks at the world anew, after the machine slept. */
  resync(): void
  /** Parks work, closes everything. */
  stop(): Promise<void>
}

export interface DesktopOptions {
  data_dir: string
  preload: string
  openCity(): Promise<City>
}

/** An orderly end takes no longer than this; then the process ends all the same. */
const stopPatience_ms = 10_000

/**
 * The life of the desktop: one instance per data folder, the platform, its window, an orderly end.
 * Resolves once the window is on its way, or when another instance has been asked to show itself.
 */
export async function runDesktop(options: DesktopOptions): Promise<void> {
  const place = join(options.data_dir, 'desktop')
  // Electron's lock is per folder of user data: so it is one instance per data folder, before anything of it is opened.
  app.setPath('userData', place)
  if (!app.requestSingleInstanceLock()) {
    app.exit(0)
    return
  }
  app.enableSandbox()

  let city: City | undefined
  let window: BrowserWindow | undefined
  let ending: Promise<void> | undefined
  let hasEnded = false

  app.on('second-instance', () => void show())
  app.on('activate', () => void show())
  // Without a listener Electron would quit: also when the last picture was taken before the dashboard is up.
  app.on('window-all-closed', () => {})
  app.on('web-contents-created', (_event, contents) => {
    if (city && !isCamera(contents)) confine(contents, { origin: new URL(city.api_url).origin, edge_url: city.edge_url })
  })
  app.on('before-quit', (event) => {
    if (hasEnded) return
    event.preventDefault()
    ending ??= end().finally(() => {
      hasEnded = true
      app.quit()
    })
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => app.quit())

  await app.whenReady()
  try {
    city = await options.openCity()
  } catch (error) {
    dialog.showErrorBox('Homeport cannot start', describe(error))
    app.exit(1)
    return
  }
  const { origin } = new URL(city.api_url)
  confineSession(origin)
  answerBridge({ origin, edge_url: city.edge_url, goTo })
  Menu.setApplicationMenu(createMenu({ goTo, openInBrowser: () => void openInBrowser() }))
  powerMonitor.on('resume', () => city?.resync())
  await show()

  async function show(): Promise<void> {
    // A second start may come while the first is still on its way up.
    if (!city || ending) return
    if (window) {
      if (window.isMinimized()) window.restore()
      window.show()
      window.focus()
      return
    }
    window = createWindow({
      origin: new URL(city.api_url).origin,
      edge_url: city.edge_url,
      version: city.version,
      preload: options.preload,
      place_file: join(place, 'window.json'),
    })
    window.on('closed', () => {
      window = undefined
      if (process.platform !== 'darwin') app.quit()
    })
    try {
      await window.loadURL(await city.signInUrl())
    } catch (error) {
      dialog.showErrorBox(
        'The dashboard did not open',
        `${describe(error)}\nHomeport itself runs on; its window can be opened again, or the dashboard in a browser with: homeport open`,
      )
    }
  }

  function goTo(path: string): void {
    void show().then(() => window?.webContents.send(channels.navigate, path))
  }

  async function openInBrowser(): Promise<void> {
    if (city) await shell.openExternal(await city.signInUrl())
  }

  async function end(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, stopPatience_ms)))
    try {
      await Promise.race([city?.stop(), late])
    } catch (error) {
      console.error('The platform did not stop in order:', error)
    } finally {
      clearTimeout(timer)
    }
  }
}

const describe = (error: unknown) => (error instanceof Error ? error.message : String(error))
