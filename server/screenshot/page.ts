import type { ScreenshotVariant } from '../contract/previews.ts'
import { systemClock } from '../lib/clock.ts'
import type { DevTools, Params } from './devtools.ts'
import { type Limits, type Shot, views } from './screenshot.ts'

/** What became of the page so far. */
interface Progress {
  /** Of the document that is shown. */
  status: number
  /** The newest navigation, and the events of its life. */
  loader: string
  events: Set<string>
  changed(): void
}

const phone = 'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36'

/** Shows a page in a new context of the browser, and takes its picture. */
export async function takePictureApart(devtools: DevTools, shot: Pick<Shot, 'url'>, variant: ScreenshotVariant, limits: Limits): Promise<Uint8Array> {
  const { browserContextId } = await devtools.ask('Target.createBrowserContext', { disposeOnDetach: true })
  await devtools.ask('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId })
  const { targetId } = await devtools.ask('Target.createTarget', { url: 'about:blank', browserContextId })
  try {
    const { sessionId } = await devtools.ask('Target.attachToTarget', { targetId, flatten: true })
    return await takePicture(devtools, { url: shot.url, variant, session: String(sessionId), limits })
  } finally {
    await devtools.ask('Target.disposeBrowserContext', { browserContextId }).catch(() => {})
  }
}

interface Sitting {
  url: string
  variant: ScreenshotVariant
  /** Of the page that shows it; undefined: the one that is spoken to. */
  session: string | undefined
  limits: Limits
}

/** Shows it in a page that is there, waits until it stands still, and takes its picture. `guard` has to stand before. */
export async function takePicture(devtools: DevTools, { url, variant, session, limits }: Sitting): Promise<Uint8Array> {
  const ask = (method: string, params?: Params) => devtools.ask(method, params, session)
  const { width, height, is_mobile } = views[variant]
  await ask('Page.enable')
  const { frameTree } = await ask('Page.getFrameTree')
  const progress = followPage(devtools, session, (frameTree as { frame: { id: string } }).frame.id)
  await ask('Page.setLifecycleEventsEnabled', { enabled: true })
  await ask('Emulation.setDeviceMetricsOverride', {
    width,
    height,
    deviceScaleFactor: 1,
    mobile: is_mobile,
    screenWidth: width,
    screenHeight: height,
  })
  await ask('Emulation.setTouchEmulationEnabled', { enabled: is_mobile })
  if (is_mobile) await ask('Emulation.setUserAgentOverride', { userAgent: phone })
  // What moves is shown at rest.
  await ask('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-reduced-motion', value: 'reduce' }] })
  await confine(devtools, session)

  const { errorText, loaderId } = await ask('Page.navigate', { url })
  if (typeof errorText === 'string') throw new Error(`There is nothing to see at ${url}: ${errorText}. It may lead elsewhere.`)
  begin(progress, String(loaderId))
  if (!(await reaches(progress, 'load', limits.load_ms))) await ask('Page.stopLoading')
  await reaches(progress, 'networkAlmostIdle', limits.quiet_ms)
  if (progress.status >= 500) throw new Error(`The app answers ${progress.status}.`)
  const { result } = await ask('Runtime.evaluate', { expression: settled, awaitPromise: true, returnByValue: true })
  if ((result as { value?: unknown }).value === 0) throw new Error('The page is empty.')
  const { data } = await ask('Page.captureScreenshot', { format: 'png' })
  return Buffer.from(String(data), 'base64')
}

/** How much there is on the page, once its fonts are there. */
const settled = `Promise.race([document.fonts.ready, new Promise((done) => setTimeout(done, 1500))]).then(() =>
  document.body ? document.body.innerText.trim().length + document.body.querySelectorAll('*').length : document.documentElement ? 1 : 0)`

/** Lets a target load what is of the app's own origin and nothing else; what it opens is confined before it may run. */
async function confine(devtools: DevTools, session: string | undefined): Promise<void> {
  const ask = (method: string, params?: Params) => devtools.ask(method, params, session)
  await ask('Network.enable')
  await ask('Network.setBypassServiceWorker', { bypass: true })
  await ask('Fetch.enable', { patterns: [{ urlPattern: '*' }] })
  await ask('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true })
}

/** To be called once for a browser, or a page that is spoken to alone: answers for all of its targets, as they come. */
export function guard(devtools: DevTools, shot: Pick<Shot, 'url'>): void {
  const { origin } = new URL(shot.url)
  const ignore = () => {}

  devtools.on('Fetch.requestPaused', ({ requestId, request, resourceType }, session) => {
    const { url } = request as { url: string }
    const isOwn = URL.canParse(url) && (new URL(url).origin === origin || /^(data|blob):/.test(url))
    // A page that would leave stays as it is; what is only a part of it is missing.
    const errorReason = resourceType === 'Document' ? 'Aborted' : 'BlockedByClient'
    if (isOwn) devtools.ask('Fetch.continueRequest', { requestId }, session).catch(ignore)
    else devtools.ask('Fetch.failRequest', { requestId, errorReason }, session).catch(ignore)
  })
  devtools.on('Page.javascriptDialogOpening', (_, session) => {
    devtools.ask('Page.handleJavaScriptDialog', { accept: false }, session).catch(ignore)
  })
  devtools.on('Target.attachedToTarget', ({ sessionId, targetInfo, waitingForDebugger }) => {
    const { type, targetId } = targetInfo as { type: string; targetId: string }
    // Told of by a page; the page itself was attached to by us, and waits for nobody.
    if (waitingForDebugger !== true) return
    const session = String(sessionId)
    if (type === 'page' || type === 'service_worker') return void devtools.ask('Target.closeTarget', { targetId }).catch(ignore)
    confine(devtools, session)
      // A worker has no such domain; then the names that the browser finds are what holds it.
      .catch(ignore)
      .then(() => devtools.ask('Runtime.runIfWaitingForDebugger', {}, session))
      .catch(ignore)
  })
}

function followPage(devtools: DevTools, session: string | undefined, frame: string): Progress {
  const progress: Progress = { status: 0, loader: '', events: new Set(), changed() {} }
  devtools.on('Page.lifecycleEvent', ({ frameId, loaderId, name }, of) => {
    if (of !== session || frameId !== frame) return
    if (name === 'init') begin(progress, String(loaderId))
    if (loaderId === progress.loader) progress.events.add(String(name))
    progress.changed()
  })
  devtools.on('Network.responseReceived', ({ type, frameId, response }, of) => {
    if (of === session && type === 'Document' && frameId === frame) progress.status = (response as { status: number }).status
  })
  return progress
}

/** What was before, the empty page included, counts no more. */
function begin(progress: Progress, loader: string): void {
  if (progress.loader !== loader) progress.events.clear()
  progress.loader = loader
}

/** False when it did not come to that in time. */
function reaches(progress: Progress, event: string, within_ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const look = () => {
      if (!progress.events.has(event)) return
      timer.cancel()
      resolve(true)
    }
    const timer = systemClock.setTimeout(() => resolve(false), within_ms)
    progress.changed = look
    look()
  })
}
