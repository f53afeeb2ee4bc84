import { BrowserWindow, nativeTheme, session, type WebContents } from 'electron'
import { versionArgument } from '../preload/bridge.ts'
import { openOutside } from './outside.ts'
import { readPlace, smallest, writePlace } from './window-place.ts'

export interface WindowOptions {
  /** Origin of the platform, the only one that the window ever shows: `http://127.0.0.1:4600`. */
  origin: string
  edge_url: string
  version: string
  preload: string
  /** File that remembers where the window was. */
  place_file: string
}

/** What no page in a window of ours may do, whoever wrote it. */
export const shutIn = {
  sandbox: true,
  contextIsolation: true,
  nodeIntegration: false,
  nodeIntegrationInWorker: false,
  nodeIntegrationInSubFrames: false,
  webSecurity: true,
  allowRunningInsecureContent: false,
  webviewTag: false,
  navigateOnDragDrop: false,
  spellcheck: false,
} as const

/** The session of the window: apart from every other, gone with the process, so that a cookie never lies on disk. */
export const partition = 'homeport'

/**
 * The one window. It shows the dashboard as any browser would, over HTTP from the platform's own origin and with a session
 * cookie that scripts cannot read; no token ever is in the page.
 */
export function createWindow(options: WindowOptions): BrowserWindow {
  const { is_maximized, ...bounds } = readPlace(options.place_file)
  const window = new BrowserWindow({
    ...bounds,
    minWidth: smallest.width,
    minHeight: smallest.height,
    show: false,
    title: 'Homeport',
    backgroundColor: nativeTheme.shouldUseDarkColors ? '#101418' : '#fbfaf8',
    autoHideMenuBar: true,
    webPreferences: {
      preload: options.preload,
      partition,
      ...shutIn,
      additionalArguments: [`${versionArgument}${options.version}`],
    },
  })
  if (is_maximized) window.maximize()
  window.once('ready-to-show', () => window.show())
  window.on('close', () => writePlace(options.place_file, { ...window.getNormalBounds(), is_maximized: window.isMaximized() }))
  return window
}

/** Whether the window may show an address: the dashboard, and the way in. */
export function isOwnPage(address: string, origin: string): boolean {
  if (!URL.canParse(address)) return false
  const url = new URL(address)
  return url.origin === origin && url.username === '' && url.password === ''
}

/** Keeps any web contents of the process where it belongs; put on each as it is made. */
export function confine(contents: WebContents, options: Pick<WindowOptions, 'origin' | 'edge_url'>): void {
  const stay = (details: { url: string; preventDefault(): void }) => {
    if (isOwnPage(details.url, options.origin)) return
    details.preventDefault()
    void openOutside(details.url, options.edge_url)
  }
  contents.on('will-navigate', stay)
  contents.on('will-redirect', stay)
  contents.on('will-frame-navigate', (details) => {
    if (!isOwnPage(details.url, options.origin)) details.preventDefault()
  })
  contents.on('will-attach-webview', (event) => event.preventDefault())
  contents.setWindowOpenHandler(({ url }) => {
    void openOutside(url, options.edge_url)
    return { action: 'deny' }
  })
}

/** What a page may ask the machine for: writing the clipboard, and nothing else. */
export function confineSession(origin: string): void {
  const own = session.fromPartition(partition)
  const isAllowed = (permission: string, from: string) => permission === 'clipboard-sanitized-write' && isOwnPage(from, origin)
  own.setPermissionRequestHandler((_contents, permission, answer, details) => answer(isAllowed(permission, details.requestingUrl)))
  own.setPermissionCheckHandler((_contents, permission, requestingOrigin) => isAllowed(permission, requestingOrigin))
}
