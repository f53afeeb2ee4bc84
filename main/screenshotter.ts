import { BrowserWindow, type Debugger, session, type Session, type WebContents } from 'electron'
import { hardenedWebPreferences } from './security.ts'
import { type Clock, systemClock } from '../server/lib/clock.ts'
import type { DevTools, DevToolsParams } from '../server/screenshots/devtools.ts'
import { enforceOrigin, capturePage } from '../server/screenshots/capture-page.ts'
import { defaultScreenshotLimits, type Screenshotter, type ScreenshotRequest, viewports } from '../server/screenshots/screenshotter.ts'

/** The session of the pictures: apart from the dashboard's, in memory alone, and emptied after each. */
export const screenshotPartition = 'homeport-screenshots'

/** Whether a page is one that stands before the camera: it goes nowhere, and must not be taken for a page of the dashboard. */
export const isScreenshotContents = (contents: WebContents): boolean => contents.session === session.fromPartition(screenshotPartition)

/** Takes pictures in a window that nobody sees. */
export function createScreenshotter(clock: Clock = systemClock): Screenshotter {
  return {
    name: () => 'A window of the desktop that nobody sees.',

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
  const cancel = () => fail('It was called off.')
  const timeout = clock.setTimeout(
    () => fail(`The page was not there after ${defaultScreenshotLimits.picture_ms / 1000} s.`),
    defaultScreenshotLimits.picture_ms,
  )
  shot.signal.addEventListener('abort', cancel)
  try {
    webContents.setAudioMuted(true)
    webContents.setWebRTCIPHandlingPolicy('disable_non_proxied_udp')
    webContents.setWindowOpenHandler(() => ({ action: 'deny' }))
    webContents.on('will-attach-webview', (event) => event.preventDefault())
    webContents.on('render-process-gone', (_event, { reason }) => fail(`The page ended: ${reason}.`))
    const devtools = attachDevTools(webContents.debugger)
    enforceOrigin(devtools, shot)
    return await Promise.race([capturePage(devtools, { url: shot.url, variant, session: undefined, limits: defaultScreenshotLimits }), ended.promise])
  } finally {
    shot.signal.removeEventListener('abort', cancel)
    timeout.cancel()
    // Closing asks the page, which may not answer.
    window.destroy()
  }
}

/** The DevTools protocol of one page, without a port. */
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

/** Nothing but the app's own origin, from the network's side: for what the inspector of a page does not see. */
async function hardenScreenshotSession(screenshotSession: Session, { url, headers }: ScreenshotRequest): Promise<void> {
  const { host, hostname } = new URL(url)
  const isAllowedUrl = (address: string) => URL.canParse(address) && (/^(data|blob|devtools):/.test(address) || isSameHost(new URL(address), host))
  // Every other name is asked of a proxy that is not there.
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
