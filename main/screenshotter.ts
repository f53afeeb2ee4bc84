import { BrowserWindow, type Debugger, session, type Session, type WebContents } from 'electron'
import { hardenedWebPreferences } from './security.ts'
import { type Clock, systemClock } from '../server/lib/clock.ts'
import type { DevTools, DevToolsParams } from '../server/screenshots/devtools.ts'
import { enforceOrigin, capturePage } from '../server/screenshots/capture-page.ts'
import { defaultScreenshotLimits, type Screenshotter, type ScreenshotRequest, viewports } from '../server/screenshots/screenshotter.ts'

/** The session for screenshots: separate from the dashboard's, in memory only, and cleared after each screenshot. */
export const screenshotPartition = 'homeport-screenshots'

/** Whether the contents are a page being captured. Such a page cannot navigate and is not treated as a page of the dashboard. */
export const isScreenshotContents = (contents: WebContents): boolean => contents.session === session.fromPartition(screenshotPartition)

/** Takes screenshots in a hidden window. */
export function createScreenshotter(clock: Clock = systemClock): Screenshotter {
  return {
    name: () => 'A hidden window of the desktop app.',

    async *take(shot) {
      shot.signal.throwIfAborted()
      const screenshotSession = session.fromPartition(screenshotPartition)
      await hardenScreenshotSession(screenshotSession, shot)
      try {
        for (const variant of shot.variants) yield { variant, png: await captureInWindow(shot, variant, clock) }
      } finally {
        await screenshotSession.clearData()
      }
    },
  }
}

async function captureInWindow(shot: ScreenshotRequest, variant: ScreenshotRequest['variants'][number], clock: Clock): Promise<Uint8Array> {
  const { width, height } = viewports[variant]
  const window = new BrowserWindow({
    show: false,
    frame: false,
    useContentSize: true,
    width,
    height,
    skipTaskbar: true,
    webPreferences: {
      partition: screenshotPartition,
      offscreen: true,
      ...hardenedWebPreferences,
      disableDialogs: true,
    },
  })
  const { webContents } = window
  const ended = Promise.withResolvers<never>()
  const fail = (reason: string) => ended.reject(new Error(reason))
  const cancel = () => fail('The screenshot was canceled.')
  const timeout = clock.setTimeout(
    () => fail(`The page did not load within ${defaultScreenshotLimits.picture_ms / 1000} s.`),
    defaultScreenshotLimits.picture_ms,
  )
  shot.signal.addEventListener('abort', cancel)
  try {
    webContents.setAudioMuted(true)
    webContents.setWebRTCIPHandlingPolicy('disable_non_proxied_udp')
    webContents.setWindowOpenHandler(() => ({ action: 'deny' }))
    webContents.on('will-attach-webview', (event) => event.preventDefault())
    webContents.on('render-process-gone', (_event, { reason }) => fail(`The page crashed: ${reason}.`))
    const devtools = attachDevTools(webContents.debugger)
    enforceOrigin(devtools, shot)
    return await Promise.race([capturePage(devtools, { url: shot.url, variant, session: undefined, limits: defaultScreenshotLimits }), ended.promise])
  } finally {
    shot.signal.removeEventListener('abort', cancel)
    timeout.cancel()
    // Destroyed, because closing would ask the page, which may not respond.
    window.destroy()
  }
}

/** The DevTools protocol of one page, without a network port. */
function attachDevTools(inspector: Debugger): DevTools {
  inspector.attach('1.3')
  return {
    send: async (method, params, sessionId) => (await inspector.sendCommand(method, params, sessionId)) as DevToolsParams,
    on: (eventName, listener) =>
      inspector.on('message', (_event, method: string, params: DevToolsParams, sessionId: string) => {
        if (method === eventName) listener(params, sessionId === '' ? undefined : sessionId)
      }),
    close: () => inspector.detach(),
  }
}

/** Limits the session's network access to the app's own origin, which also covers requests that the page's DevTools do not see. */
async function hardenScreenshotSession(screenshotSession: Session, { url, headers }: ScreenshotRequest): Promise<void> {
  const { host, hostname } = new URL(url)
  const isAllowedUrl = (address: string) => URL.canParse(address) && (/^(data|blob|devtools):/.test(address) || isSameHost(new URL(address), host))
  // Requests to other hosts go to a proxy that does not exist.
  await screenshotSession.setProxy({ mode: 'fixed_servers', proxyRules: 'http://127.0.0.1:9', proxyBypassRules: `<-loopback>;${hostname}` })
  screenshotSession.webRequest.onBeforeRequest((details, callback) => callback({ cancel: !isAllowedUrl(details.url) }))
  screenshotSession.webRequest.onBeforeSendHeaders((details, callback) => callback({ requestHeaders: { ...details.requestHeaders, ...headers } }))
  screenshotSession.setPermissionRequestHandler((_contents, _permission, callback) => callback(false))
  screenshotSession.setPermissionCheckHandler(() => false)
  screenshotSession.removeAllListeners('will-download')
  screenshotSession.on('will-download', (event) => event.preventDefault())
}

const isSameHost = ({ protocol, host }: URL, screenshotSession: string): boolean =>
  (protocol === 'http:' || protocol === 'ws:') && host === screenshotSession
