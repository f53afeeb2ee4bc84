import type { ScreenshotVariant } from '../contract/previews.ts'
import { systemClock } from '../lib/clock.ts'
import type { DevTools, DevToolsParams } from './devtools.ts'
import { type ScreenshotLimits, type ScreenshotRequest, viewports } from './screenshotter.ts'

/** The state of the page. */
interface PageProgress {
  /** Status of the main document. */
  status: number
  /** The latest navigation, and its lifecycle events. */
  loader_id: string
  events: Set<string>
  onChange(): void
}

const mobileUserAgent = 'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36'

/** Opens a page in a new browser context and captures it. */
export async function captureInNewContext(
  devtools: DevTools,
  request: Pick<ScreenshotRequest, 'url'>,
  variant: ScreenshotVariant,
  limits: ScreenshotLimits,
): Promise<Uint8Array> {
  const { browserContextId } = await devtools.send('Target.createBrowserContext', { disposeOnDetach: true })
  await devtools.send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId })
  const { targetId } = await devtools.send('Target.createTarget', { url: 'about:blank', browserContextId })
  try {
    const { sessionId } = await devtools.send('Target.attachToTarget', { targetId, flatten: true })
    return await capturePage(devtools, { url: request.url, variant, session: String(sessionId), limits })
  } finally {
    await devtools.send('Target.disposeBrowserContext', { browserContextId }).catch(() => {})
  }
}

interface CaptureOptions {
  url: string
  variant: ScreenshotVariant
  /** The session of the page; undefined: the connection is to the page itself. */
  session: string | undefined
  limits: ScreenshotLimits
}

/** Loads the URL in an existing page, waits until it is stable, and captures it. `enforceOrigin` must be called before. */
export async function capturePage(devtools: DevTools, { url, variant, session, limits }: CaptureOptions): Promise<Uint8Array> {
  const send = (method: string, params?: DevToolsParams) => devtools.send(method, params, session)
  const { width, height, is_mobile } = viewports[variant]
  await send('Page.enable')
  const { frameTree } = await send('Page.getFrameTree')
  const progress = trackPage(devtools, session, (frameTree as { frame: { id: string } }).frame.id)
  await send('Page.setLifecycleEventsEnabled', { enabled: true })
  await send('Emulation.setDeviceMetricsOverride', {
    width,
    height,
    deviceScaleFactor: 1,
    mobile: is_mobile,
    screenWidth: width,
    screenHeight: height,
  })
  await send('Emulation.setTouchEmulationEnabled', { enabled: is_mobile })
  if (is_mobile) await send('Emulation.setUserAgentOverride', { userAgent: mobileUserAgent })
  // Animations are disabled.
  await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-reduced-motion', value: 'reduce' }] })
  await restrictToOwnOrigin(devtools, session)

  const { errorText, loaderId } = await send('Page.navigate', { url })
  if (typeof errorText === 'string') throw new Error(`${url} could not be loaded: ${errorText}. The page may redirect to another address.`)
  startNavigation(progress, String(loaderId))
  if (!(await waitForEvent(progress, 'load', limits.load_ms))) await send('Page.stopLoading')
  await waitForEvent(progress, 'networkAlmostIdle', limits.quiet_ms)
  if (progress.status >= 500) throw new Error(`The app responded with ${progress.status}.`)
  const { result } = await send('Runtime.evaluate', { expression: contentSizeScript, awaitPromise: true, returnByValue: true })
  if ((result as { value?: unknown }).value === 0) throw new Error('The page is empty.')
  const { data } = await send('Page.captureScreenshot', { format: 'png' })
  return Buffer.from(String(data), 'base64')
}

/** The amount of content on the page, once its fonts are loaded. */
const contentSizeScript = `Promise.race([document.fonts.ready, new Promise((done) => setTimeout(done, 1500))]).then(() =>
  document.body ? document.body.innerText.trim().length + document.body.querySelectorAll('*').length : document.documentElement ? 1 : 0)`

/** Lets a target load only resources of the app's own origin. New targets are restricted before they run. */
async function restrictToOwnOrigin(devtools: DevTools, session: string | undefined): Promise<void> {
  const send = (method: string, params?: DevToolsParams) => devtools.send(method, params, session)
  await send('Network.enable')
  await send('Network.setBypassServiceWorker', { bypass: true })
  await send('Fetch.enable', { patterns: [{ urlPattern: '*' }] })
  await send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true })
}

/** Must be called once per browser, or once per page with its own connection. Handles all targets as they are created. */
export function enforceOrigin(devtools: DevTools, request: Pick<ScreenshotRequest, 'url'>): void {
  const { origin } = new URL(request.url)
  const ignore = () => {}

  devtools.on('Fetch.requestPaused', ({ requestId, request: pausedRequest, resourceType }, session) => {
    const { url } = pausedRequest as { url: string }
    const isOwn = URL.canParse(url) && (new URL(url).origin === origin || /^(data|blob):/.test(url))
    // A blocked navigation leaves the page unchanged; a blocked subresource is missing.
    const errorReason = resourceType === 'Document' ? 'Aborted' : 'BlockedByClient'
    if (isOwn) devtools.send('Fetch.continueRequest', { requestId }, session).catch(ignore)
    else devtools.send('Fetch.failRequest', { requestId, errorReason }, session).catch(ignore)
  })
  devtools.on('Page.javascriptDialogOpening', (_, session) => {
    devtools.send('Page.handleJavaScriptDialog', { accept: false }, session).catch(ignore)
  })
  devtools.on('Target.attachedToTarget', ({ sessionId, targetInfo, waitingForDebugger }) => {
    const { type, targetId } = targetInfo as { type: string; targetId: string }
    // Announced by a page; the page itself was attached by this module and is not paused.
    if (waitingForDebugger !== true) return
    const session = String(sessionId)
    if (type === 'page' || type === 'service_worker') return void devtools.send('Target.closeTarget', { targetId }).catch(ignore)
    restrictToOwnOrigin(devtools, session)
      // A worker does not support this domain; the host resolver rules restrict it.
      .catch(ignore)
      .then(() => devtools.send('Runtime.runIfWaitingForDebugger', {}, session))
      .catch(ignore)
  })
}

function trackPage(devtools: DevTools, session: string | undefined, frame: string): PageProgress {
  const progress: PageProgress = { status: 0, loader_id: '', events: new Set(), onChange() {} }
  devtools.on('Page.lifecycleEvent', ({ frameId, loaderId, name }, of) => {
    if (of !== session || frameId !== frame) return
    if (name === 'init') startNavigation(progress, String(loaderId))
    if (loaderId === progress.loader_id) progress.events.add(String(name))
    progress.onChange()
  })
  devtools.on('Network.responseReceived', ({ type, frameId, response }, of) => {
    if (of === session && type === 'Document' && frameId === frame) progress.status = (response as { status: number }).status
  })
  return progress
}

/** Discards the state of the previous document, including the initial empty page. */
function startNavigation(progress: PageProgress, loader: string): void {
  if (progress.loader_id !== loader) progress.events.clear()
  progress.loader_id = loader
}

/** Resolves to false when the event does not occur in time. */
function waitForEvent(progress: PageProgress, event: string, within_ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const checkEvent = () => {
      if (!progress.events.has(event)) return
      timer.cancel()
      resolve(true)
    }
    const timer = systemClock.setTimeout(() => resolve(false), within_ms)
    progress.onChange = checkEvent
    checkEvent()
  })
}
