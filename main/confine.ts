import { app, type DownloadItem, type Session, session, type WebContents } from 'electron'
import { basename, extname, join } from 'node:path'
import { openOutside } from './outside.ts'

/** What no page in a window of ours may do, whoever wrote it. */
export const shutIn = {
  sandbox: true,
  contextIsolation: true,
  nodeIntegration: false,
  nodeIntegrationInWorker: false,
  nodeIntegrationInSubFrames: false,
  webSecurity: true,
  allowRunningInsecureContent: false,
  experimentalFeatures: false,
  webviewTag: false,
  navigateOnDragDrop: false,
  spellcheck: false,
} as const

/** The window's storage: apart from every other, gone with the process, so that the session of the dashboard never lies on disk. */
export const partition = 'homeport'

export const ownSession = (): Session => session.fromPartition(partition)

export interface Bounds {
  /** Origin of the platform, the only one that the window ever shows: `http://127.0.0.1:4600`. */
  origin: string
  edge_url: string
}

/** Whether an address is one of the platform's own. */
function isOwnAddress(address: string, origin: string): boolean {
  if (!URL.canParse(address)) return false
  const url = new URL(address)
  return url.origin === origin && url.username === '' && url.password === ''
}

/**
 * Whether the window may show an address: the dashboard, and the way in. What lies beside it at the same origin is data (the API,
 * what a remote instance answered), and no page.
 */
export function isOwnPage(address: string, origin: string): boolean {
  return isOwnAddress(address, origin) && /^\/(app(\/.*)?|sign-in|sign-up|forgot|verify|join)?$/.test(new URL(address).pathname)
}

/** Whether it is the dashboard itself, which alone may speak to the desktop. */
export function isDashboard(address: string, origin: string): boolean {
  return isOwnAddress(address, origin) && new URL(address).pathname.startsWith('/app/')
}

/** Keeps any web contents of the process where it belongs; put on each as it is made. */
export function confine(contents: WebContents, { origin, edge_url }: Bounds): void {
  const stay = (details: { url: string; preventDefault(): void }) => {
    if (isOwnPage(details.url, origin)) return
    details.preventDefault()
    void openOutside(details.url, edge_url)
  }
  contents.on('will-navigate', stay)
  contents.on('will-redirect', stay)
  contents.on('will-frame-navigate', (details) => {
    if (!isOwnPage(details.url, origin)) details.preventDefault()
  })
  contents.on('will-attach-webview', (event) => event.preventDefault())
  contents.setWindowOpenHandler(({ url }) => {
    void openOutside(url, edge_url)
    return { action: 'deny' }
  })
}

/**
 * The second wall, from the network's side: nothing but our own origin is asked for anything, whatever a page tries. Of the machine a
 * page gets the clipboard, for writing, and nothing else. What it hands out as a file goes where the person says.
 */
export function confineSession(origin: string): void {
  const own = ownSession()
  const socket = origin.replace(/^http/, 'ws')
  const isInside = (address: string) =>
    /^(data|blob):/.test(address) ||
    isOwnAddress(address, origin) ||
    isOwnAddress(address, socket) ||
    (!app.isPackaged && address.startsWith('devtools:'))
  own.webRequest.onBeforeRequest((details, answer) => answer({ cancel: !isInside(details.url) }))

  const isAllowed = (permission: string, from: string) => permission === 'clipboard-sanitized-write' && isOwnAddress(from, origin)
  own.setPermissionRequestHandler((_contents, permission, answer, details) => answer(isAllowed(permission, details.requestingUrl)))
  own.setPermissionCheckHandler((_contents, permission, requestingOrigin) => isAllowed(permission, requestingOrigin))
  own.setDevicePermissionHandler(() => false)
  own.setDisplayMediaRequestHandler((_request, answer) => answer(null))
  own.on('will-download', (event, item) => {
    if (isOwnAddress(item.getURL(), origin) || item.getURL().startsWith(`blob:${origin}/`)) askWhere(item)
    else event.preventDefault()
  })
}

function askWhere(item: DownloadItem): void {
  item.setSaveDialogOptions({ title: 'Save', defaultPath: join(app.getPath('downloads'), safeName(item.getFilename())) })
}

const longestName = 150

/** A name of a file and of nothing else: no folder, no control or reading-order character, none that a system keeps for itself. */
export function safeName(name: string): string {
  const plain = basename(name.replaceAll('\\', '/'))
    // oxlint-disable-next-line no-control-regex -- those are what has to go
    .replace(/[\u0000-\u001f\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069<>:"/\\|?*]/g, '')
    .replace(/^[.\s]+|[.\s]+$/g, '')
  const isReserved = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(plain)
  const ending = extname(plain).slice(0, 20)
  const kept = `${plain.slice(0, plain.length - extname(plain).length).slice(0, longestName - ending.length)}${ending}`
  return kept === '' ? 'homeport-download' : isReserved ? `_${kept}` : kept
}
