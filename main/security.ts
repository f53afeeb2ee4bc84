import { app, type DownloadItem, type Session, session, type WebContents } from 'electron'
import { basename, extname, join } from 'node:path'
import { openExternalLink } from './external-links.ts'

/** What no page in a window of ours may do, whoever wrote it. */
export const hardenedWebPreferences = {
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
export const dashboardPartition = 'homeport'

export const getDashboardSession = (): Session => session.fromPartition(dashboardPartition)

export interface PlatformOrigins {
  /** Origin of the platform, the only one that the window ever shows: `http://127.0.0.1:4600`. */
  origin: string
  edge_url: string
}

/** Whether an address is one of the platform's own. */
function isSameOrigin(address: string, origin: string): boolean {
  if (!URL.canParse(address)) return false
  const url = new URL(address)
  return url.origin === origin && url.username === '' && url.password === ''
}

/**
 * Whether the window may show an address: the dashboard, and the way in. What lies beside it at the same origin is data (the API,
 * what a remote instance answered), and no page.
 */
export function isAllowedPage(address: string, origin: string): boolean {
  return isSameOrigin(address, origin) && /^\/(app(\/.*)?|sign-in|sign-up|forgot|verify|join)?$/.test(new URL(address).pathname)
}

/** Whether it is the dashboard itself, which alone may speak to the desktop. */
export function isDashboardUrl(address: string, origin: string): boolean {
  return isSameOrigin(address, origin) && new URL(address).pathname.startsWith('/app/')
}

/** Keeps any web contents of the process where it belongs; put on each as it is made. */
export function hardenWebContents(contents: WebContents, { origin, edge_url }: PlatformOrigins): void {
  const blockForeignNavigation = (details: { url: string; preventDefault(): void }) => {
    if (isAllowedPage(details.url, origin)) return
    details.preventDefault()
    void openExternalLink(details.url, edge_url)
  }
  contents.on('will-navigate', blockForeignNavigation)
  contents.on('will-redirect', blockForeignNavigation)
  contents.on('will-frame-navigate', (details) => {
    if (!isAllowedPage(details.url, origin)) details.preventDefault()
  })
  contents.on('will-attach-webview', (event) => event.preventDefault())
  contents.setWindowOpenHandler(({ url }) => {
    void openExternalLink(url, edge_url)
    return { action: 'deny' }
  })
}

/**
 * The second wall, from the network's side: nothing but our own origin is asked for anything, whatever a page tries. Of the machine a
 * page gets the clipboard, for writing, and nothing else. What it hands out as a file goes where the person says.
 */
export function hardenDashboardSession(origin: string): void {
  const dashboardSession = getDashboardSession()
  const webSocketOrigin = origin.replace(/^http/, 'ws')
  const isAllowedUrl = (address: string) =>
    /^(data|blob):/.test(address) ||
    isSameOrigin(address, origin) ||
    isSameOrigin(address, webSocketOrigin) ||
    (!app.isPackaged && address.startsWith('devtools:'))
  dashboardSession.webRequest.onBeforeRequest((details, callback) => callback({ cancel: !isAllowedUrl(details.url) }))

  const isAllowed = (permission: string, from: string) => permission === 'clipboard-sanitized-write' && isSameOrigin(from, origin)
  dashboardSession.setPermissionRequestHandler((_contents, permission, callback, details) => callback(isAllowed(permission, details.requestingUrl)))
  dashboardSession.setPermissionCheckHandler((_contents, permission, requestingOrigin) => isAllowed(permission, requestingOrigin))
  dashboardSession.setDevicePermissionHandler(() => false)
  dashboardSession.setDisplayMediaRequestHandler((_request, callback) => callback(null))
  dashboardSession.on('will-download', (event, item) => {
    if (isSameOrigin(item.getURL(), origin) || item.getURL().startsWith(`blob:${origin}/`)) promptForSavePath(item)
    else event.preventDefault()
  })
}

function promptForSavePath(item: DownloadItem): void {
  item.setSaveDialogOptions({ title: 'Save', defaultPath: join(app.getPath('downloads'), sanitizeFilename(item.getFilename())) })
}

const maxFilenameLength = 150

/** A name of a file and of nothing else: no folder, no control or reading-order character, none that a system keeps for itself. */
export function sanitizeFilename(name: string): string {
  const cleaned = basename(name.replaceAll('\\', '/'))
    // oxlint-disable-next-line no-control-regex -- those are what has to go
    .replace(/[\u0000-\u001f\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069<>:"/\\|?*]/g, '')
    .replace(/^[.\s]+|[.\s]+$/g, '')
  const isReserved = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(cleaned)
  const extension = extname(cleaned).slice(0, 20)
  const shortened = `${cleaned.slice(0, cleaned.length - extname(cleaned).length).slice(0, maxFilenameLength - extension.length)}${extension}`
  return shortened === '' ? 'homeport-download' : isReserved ? `_${shortened}` : shortened
}
