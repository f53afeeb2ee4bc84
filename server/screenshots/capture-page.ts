import type { ScreenshotVariant } from '../contract/previews.ts'
import { systemClock } from '../lib/clock.ts'
import type { DevTools, DevToolsParams } from './devtools.ts'
import { type ScreenshotLimits, type ScreenshotRequest, viewports } from './screenshotter.ts'

/** What became of the page so far. */
interface PageProgress {
  /** Of the document that is shown. */
  status: number
  /** The newest navigation, and the events of its life. */
  loader_id: string
  events: Set<string>
  onChange(): void
}

const mobileUserAgent = 'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36'

/** Shows a page in a new context of the browser, and takes its picture. */
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
  /** Of the page that shows it; undefined: the one that is spoken to. */
  session: string | undefined
  limits: ScreenshotLimits
}

/** Shows it in a page that is there, waits until it stands still, and takes its picture. `guard` has to stand before. */
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
  // What moves is shown at rest.
  await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-reduced-motion', value: 'reduce' }] })
  await restrictToOwnOrigin(devtools, session)

  const { errorText, loaderId } = await send('Page.navigate', { url })
  if (typeof errorText === 'string') throw new Error(`There is nothing to see at ${url}: ${errorText}. It may lead elsewhere.`)
  startNavigation(progress, String(loaderId))
  if (!(await waitForEvent(progress, 'load', limits.load_ms))) await send('Page.stopLoading')
  await waitForEvent(progress, 'networkAlmostIdle', limits.quiet_ms)
  if (progress.status >= 500) throw new Error(`The app answers ${progress.status}.`)
  const { result } = await send('Runtime.evaluate', { expression: contentSizeScript, awaitPromise: true, returnByValue: true })
  if ((result as { value?: unknown }).value === 0) throw new Error('The page is empty.')
  const { data } = await send('Page.captureScreenshot', { format: 'png' })
  return Buffer.from(String(data), 'base64')
}

/** How much there is on the page, once its fonts are there. */
const contentSizeScript = `Promise.race([document.fonts.ready, new Promise((done) => setTimeout(done, 1500))]).then(() =>
  document.body ? document.body.innerText.trim().length + document.body.querySelectorAll('*').length : document.documentElement ? 1 : 0)`

/** Lets a target load what is of the app's own origin and nothing else; what it opens is confined before it may run. */
async function restrictToOwnOrigin(devtools: DevTools, session: string | undefined): Promise<void> {
  const send = (method: string, params?: DevToolsParams) => devtools.send(method, params, session)
  await send('Network.enable')
  await send('Network.setBypassServiceWorker', { bypass: true })
  await send('Fetch.enable', { patterns: [{ urlPattern: '*' }] })
  await send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true })
}

/** To be called once for a browser, or a page that is spoken to alone: answers for all of its targets, as they come. */
export function enforceOrigin(devtools: DevTools, request: Pick<ScreenshotRequest, 'url'>): void {
  const { origin } = new URL(request.url)
  const ignore = () => {}

  devtools.on('Fetch.requestPaused', ({ requestId, request: pausedRequest, resourceType }, session) => {
    const { url } = pausedRequest as { url: string }
    const isOwn = URL.canParse(url) && (new URL(url).origin === origin || /^(data|blob):/.test(url))
    // A page that would leave stays as it is; what is only a part of it is missing.
    const errorReason = resourceType === 'Document' ? 'Aborted' : 'BlockedByClient'
    if (isOwn) devtools.send('Fetch.continueRequest', { requestId }, session).catch(ignore)
    else devtools.send('Fetch.failRequest', { requestId, errorReason }, session).catch(ignore)
  })
  devtools.on('Page.javascriptDialogOpening', (_, session) => {
    devtools.send('Page.handleJavaScriptDialog', { accept: false }, session).catch(ignore)
  })
  devtools.on('Target.attachedToTarget', ({ sessionId, targetInfo, waitingForDebugger }) => {
    const { type, targetId } = targetInfo as { type: string; targetId: string }
    // Told of by a page; the page itself was attached to by us, and waits for nobody.
    if (waitingForDebugger !== true) return
    const session = String(sessionId)
    if (type === 'page' || type === 'service_worker') return void devtools.send('Target.closeTarget', { targetId }).catch(ignore)
    restrictToOwnOrigin(devtools, session)
      // A worker has no such domain; then the names that the browser finds are what holds it.
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

/** What was before, the empty page included, counts no more. */
function startNavigation(progress: PageProgress, loader: string): void {
  if (progress.loader_id !== loader) progress.events.clear()
  progress.loader_id = loader
}

/** False when it did not come to that in time. */
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
