import { app, type DownloadItem, type Session, session, type WebContents } from 'electron'
import { basename, extname, join } from 'node:path'
import { openExternalLink } from './external-links.ts'

/** Restrictions for every page in a window of Homeport. */
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

/** The window's storage: separate from all others and in memory only, so that the dashboard session is never written to disk. */
export const dashboardPartition = 'homeport'

export const getDashboardSession = (): Session => session.fromPartition(dashboardPartition)

export interface PlatformOrigins {
  /** The origin of the platform, the only one that the window shows: `http://127.0.0.1:4600`. */
  origin: string
  edge_url: string
}

/** Whether a URL belongs to the platform's origin. */
function isSameOrigin(address: string, origin: string): boolean {
  if (!URL.canParse(address)) return false
  const url = new URL(address)
  return url.origin === origin && url.username === '' && url.password === ''
}

/**
 * Whether the window may show a URL: the dashboard and the sign-in pages. Other paths of the same origin are data (the API, responses of remote
 * instances) and not pages.
 */
export function isAllowedPage(address: string, origin: string): boolean {
  return isSameOrigin(address, origin) && /^\/(app(\/.*)?|sign-in|sign-up|forgot|verify|join)?$/.test(new URL(address).pathname)
}

/** Whether a URL is the dashboard, which is the only page that may use the bridge. */
export function isDashboardUrl(address: string, origin: string): boolean {
  return isSameOrigin(address, origin) && new URL(address).pathname.startsWith('/app/')
}

/** Restricts navigation and new windows of any web contents of the process. Applied when the contents are created. */
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
 * Restricts the dashboard session on the network level: only requests to the platform's origin are allowed, whatever a page attempts. The only
 * permission is writing to the clipboard. Downloads are saved where the user chooses.
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

/** Reduces a name to a plain file name: without folders, control or bidirectional characters, and reserved names. */
export function sanitizeFilename(name: string): string {
  const cleaned = basename(name.replaceAll('\\', '/'))
    // oxlint-disable-next-line no-control-regex -- these are removed
    .replace(/[\u0000-\u001f\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069<>:"/\\|?*]/g, '')
    .replace(/^[.\s]+|[.\s]+$/g, '')
  const isReserved = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(cleaned)
  const extension = extname(cleaned).slice(0, 20)
  const shortened = `${cleaned.slice(0, cleaned.length - extname(cleaned).length).slice(0, maxFilenameLength - extension.length)}${extension}`
  return shortened === '' ? 'homeport-download' : isReserved ? `_${shortened}` : shortened
}
