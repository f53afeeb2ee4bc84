import { BrowserWindow, type Debugger, session, type Session, type WebContents } from 'electron'
import { shutIn } from './confine.ts'
import { type Clock, systemClock } from '../server/lib/clock.ts'
import type { DevTools, Params } from '../server/screenshot/devtools.ts'
import { guard, takePicture } from '../server/screenshot/page.ts'
import { limits, type Screenshotter, type Shot, views } from '../server/screenshot/screenshot.ts'

/** The session of the pictures: apart from the dashboard's, in memory alone, and emptied after each. */
export const cameraPartition = 'homeport-screenshots'

/** Whether a page is one that stands before the camera: it goes nowhere, and must not be taken for a page of the dashboard. */
export const isCamera = (contents: WebContents): boolean => contents.session === session.fromPartition(cameraPartition)

/** Takes pictures in a window that nobody sees. */
export function createScreenshotter(clock: Clock = systemClock): Screenshotter {
  return {
    name: () => 'A window of the desktop that nobody sees.',

    async *take(shot) {
      shot.signal.throwIfAborted()
      const own = session.fromPartition(cameraPartition)
      await confineCamera(own, shot)
      try {
        for (const variant of shot.variants) yield { variant, png: await inWindow(shot, variant, clock) }
      } finally {
        await own.clearData()
      }
    },
  }
}

async function inWindow(shot: Shot, variant: Shot['variants'][number], clock: Clock): Promise<Uint8Array> {
  const { width, height } = views[variant]
  const window = new BrowserWindow({
    show: false,
    frame: false,
    useContentSize: true,
    width,
    height,
    skipTaskbar: true,
    webPreferences: {
      partition: cameraPartition,
      offscreen: true,
      ...shutIn,
      disableDialogs: true,
    },
  })
  const { webContents } = window
  const ended = Promise.withResolvers<never>()
  const end = (why: string) => ended.reject(new Error(why))
  const stop = () => end('It was called off.')
  const late = clock.setTimeout(() => end(`The page was not there after ${limits.picture_ms / 1000} s.`), limits.picture_ms)
  shot.signal.addEventListener('abort', stop)
  try {
    webContents.setAudioMuted(true)
    webContents.setWebRTCIPHandlingPolicy('disable_non_proxied_udp')
    webContents.setWindowOpenHandler(() => ({ action: 'deny' }))
    webContents.on('will-attach-webview', (event) => event.preventDefault())
    webContents.on('render-process-gone', (_event, { reason }) => end(`The page ended: ${reason}.`))
    const devtools = speakTo(webContents.debugger)
    guard(devtools, shot)
    return await Promise.race([takePicture(devtools, { url: shot.url, variant, session: undefined, limits }), ended.promise])
  } finally {
    shot.signal.removeEventListener('abort', stop)
    late.cancel()
    // Closing asks the page, which may not answer.
    window.destroy()
  }
}

/** The DevTools protocol of one page, without a port. */
function speakTo(inspector: Debugger): DevTools {
  inspector.attach('1.3')
  return {
    ask: async (method, params, of) => (await inspector.sendCommand(method, params, of)) as Params,
    on: (wanted, listener) =>
      inspector.on('message', (_event, method: string, params: Params, of: string) => {
        if (method === wanted) listener(params, of === '' ? undefined : of)
      }),
    end: () => inspector.detach(),
  }
}

/** Nothing but the app's own origin, from the network's side: for what the inspector of a page does not see. */
async function confineCamera(own: Session, { url, headers }: Shot): Promise<void> {
  const { host, hostname } = new URL(url)
  const isOwn = (address: string) => URL.canParse(address) && (/^(data|blob|devtools):/.test(address) || isOfHost(new URL(address), host))
  // Every other name is asked of a proxy that is not there.
  await own.setProxy({ mode: 'fixed_servers', proxyRules: 'http://127.0.0.1:9', proxyBypassRules: `<-loopback>;${hostname}` })
  own.webRequest.onBeforeRequest((details, answer) => answer({ cancel: !isOwn(details.url) }))
  own.webRequest.onBeforeSendHeaders((details, answer) => answer({ requestHeaders: { ...details.requestHeaders, ...headers } }))
  own.setPermissionRequestHandler((_contents, _permission, answer) => answer(false))
  own.setPermissionCheckHandler(() => false)
  own.removeAllListeners('will-download')
  own.on('will-download', (event) => event.preventDefault())
}

const isOfHost = ({ protocol, host }: URL, own: string): boolean => (protocol === 'http:' || protocol === 'ws:') && host === own
