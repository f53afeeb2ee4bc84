import { join } from 'node:path'
import type { DoctorCheck } from '../contract/instance.ts'
import { screenshotVariants, type ScreenshotVariant } from '../contract/previews.ts'
import type { DomainEvent } from '../contract/domain-events.ts'
import type { EventBus } from '../lib/event-bus.ts'
import { type Clock, isoTime, type Timer } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { createScreenshotFiles, type ScreenshotFile } from './screenshot-files.ts'
import type { Screenshotter, ScreenshotRequest } from './screenshotter.ts'

const retryDelay_ms = 5_000
/** One retry; then no more attempts in this run. */
const maxTries = 2
const maxWaits = 12
/** The longest time that a screenshot waits for deployments. */
const maxYield_ms = 60_000

/** A live deployment. */
export interface ScreenshotTarget {
  deployment_id: string
  project_id: string
  target: string
  branch: string | null
  url: string
  taken: ScreenshotVariant[]
}

/** The stored records of screenshots. */
export interface ScreenshotRecords {
  /** undefined: the deployment is not live. */
  find(deploymentId: string): Promise<ScreenshotTarget | undefined>
  listCurrent(): Promise<ScreenshotTarget[]>
  /** Whether a deployment is in progress. */
  isDeploying(): Promise<boolean>
  /** False: the deployment is no longer live, and nothing is stored. */
  insert(row: { deployment_id: string; variant: ScreenshotVariant; bytes: number; created_at: string }): Promise<boolean>
  list(): Promise<ScreenshotFile[]>
  remove(deploymentId: string, variant: ScreenshotVariant): Promise<void>
  forget(filter: { deployment_id: string } | { project_id: string }): Promise<void>
}

export interface ScreenshotServiceOptions {
  store: ScreenshotRecords
  screenshotter: Screenshotter
  events: EventBus<DomainEvent>
  clock: Clock
  log: Log
  data_dir: string
  isEnabled(): boolean
  /** The current route of a host. */
  findRoute(host: string): { kind: string; deployment_id: string | null } | undefined
  /** The URL of a host in this run; the URL in a row may be from an earlier run with another port. */
  getUrl(host: string): string
  /** Opens an edge endpoint whose requests do not count as visits. */
  openEndpoint(): Promise<ScreenshotRequest['endpoint'] & { close(): Promise<void> }>
  probe_secret: string
}

export interface ScreenshotService {
  read(of: { id: string; project_id: string }, variant: ScreenshotVariant): Promise<Uint8Array | undefined>
  /** Resumes the work of the previous run. */
  start(): Promise<void>
  /** Deletes the screenshots of one deployment, or all of a project. */
  remove(filter: { project_id: string; deployment_id?: string }): Promise<void>
  check(): DoctorCheck
  close(): Promise<void>
}

/**
 * Captures live deployments in the background, with one browser at a time: after a deployment becomes ready, while its app is awake. A sleeping app
 * is not woken; it is captured after a visitor has woken it.
 */
export function createScreenshotService(options: ScreenshotServiceOptions): ScreenshotService {
  const { store, events, log, screenshotter } = options
  const files = createScreenshotFiles(join(options.data_dir, 'screenshots'))
  /** Pending screenshots by slot: a newer deployment replaces an older one. */
  const queue = new Map<string, ScreenshotTarget>()
  /** Deployments that were asleep when their turn came, by project. */
  const sleepingByProject = new Map<string, Set<string>>()
  const counts = { tries: new Map<string, number>(), waits: new Map<string, number>() }
  const timers = new Set<Timer>()
  /** Until this time, screenshots wait for deployments to end. */
  let yielding: { until: number; timer: Timer } | undefined
  let running: { target: ScreenshotTarget; controller: AbortController } | undefined
  let working: Promise<void> = Promise.resolve()
  let isClosed = false

  const missingVariants = (target: ScreenshotTarget) => screenshotVariants.filter((variant) => !target.taken.includes(variant))
  const slotOf = (target: ScreenshotTarget) => `${target.project_id} ${target.target} ${target.target === 'preview' ? target.branch : ''}`
  /** Whether the host currently routes to this deployment, and whether the app is awake. */
  const readRouteState = ({ url, deployment_id }: ScreenshotTarget): 'awake' | 'asleep' | 'not_routed' => {
    const route = options.findRoute(new URL(url).hostname)
    if (route?.deployment_id !== deployment_id || route.kind === 'page') return 'not_routed'
    return route.kind === 'asleep' ? 'asleep' : 'awake'
  }
  const logFailure = (error: unknown) => log.warn('screenshot_cleanup_failed', { error })

  const enqueue = (target: ScreenshotTarget): void => {
    if (isClosed || !options.isEnabled() || missingVariants(target).length === 0) return
    if ((counts.tries.get(target.deployment_id) ?? 0) >= maxTries || running?.target.deployment_id === target.deployment_id) return
    queue.set(slotOf(target), target)
    if (!running) startWorker()
  }

  const startWorker = (): void => void (working = working.then(processQueue).catch(logFailure))

  /** Whether a deployment is in progress, because a browser uses as many resources as a build. */
  const shouldYield = async (): Promise<boolean> => {
    const isDeploying = await store.isDeploying()
    if (!isDeploying && yielding) {
      cancelTimer(yielding.timer)
      yielding = undefined
    } else if (isDeploying) yielding ??= { until: options.clock.monotonic() + maxYield_ms, timer: startTimer(maxYield_ms, startWorker) }
    return yielding !== undefined && options.clock.monotonic() < yielding.until
  }

  /** A deployment started or ended: the current screenshot is postponed, or a postponed one continues. */
  const updateQueue = async (): Promise<void> => {
    if (!running) return queue.size > 0 ? startWorker() : undefined
    if (!(await shouldYield()) || !running) return
    const { target, controller } = running
    if (!queue.has(slotOf(target))) queue.set(slotOf(target), target)
    controller.abort(new Error('A deployment has started.'))
  }

  const startTimer = (ms: number, run: () => void): Timer => {
    const timer = options.clock.setTimeout(() => {
      timers.delete(timer)
      run()
    }, ms)
    timers.add(timer.unref())
    return timer
  }

  const cancelTimer = (timer: Timer): void => {
    timer.cancel()
    timers.delete(timer)
  }

  const updateDeployment = async (deploymentId: string): Promise<void> => {
    const target = await store.find(deploymentId)
    if (target) return enqueue(target)
    for (const [slot, waiting] of queue) if (waiting.deployment_id === deploymentId) queue.delete(slot)
    if (running?.target.deployment_id === deploymentId) running.controller.abort(new Error('The deployment is no longer live.'))
  }

  const processQueue = async (): Promise<void> => {
    for (;;) {
      if (isClosed || queue.size === 0 || (await shouldYield())) return
      const [key, waiting] = queue.entries().next().value ?? []
      if (key === undefined || waiting === undefined) return
      queue.delete(key)
      const target = await store.find(waiting.deployment_id)
      if (!target || missingVariants(target).length === 0 || screenshotter.name() === null || !options.isEnabled()) continue
      const routeState = readRouteState(target)
      if (routeState !== 'awake') {
        sleepingByProject.set(target.project_id, (sleepingByProject.get(target.project_id) ?? new Set()).add(target.deployment_id))
        // The app may be starting, as all apps are after a start of the platform.
        if (routeState === 'not_routed') scheduleRetry(target, 'waits', maxWaits)
        continue
      }
      const controller = new AbortController()
      running = { target, controller }
      try {
        await takeScreenshots(target, controller.signal)
      } catch (error) {
        if (!controller.signal.aborted) {
          const will_try_again = scheduleRetry(target, 'tries', maxTries)
          log.warn('screenshot_failed', { deployment: target.deployment_id, will_try_again, error })
        }
      } finally {
        running = undefined
      }
    }
  }

  const takeScreenshots = async (target: ScreenshotTarget, signal: AbortSignal): Promise<void> => {
    const endpoint = await options.openEndpoint()
    const url = options.getUrl(new URL(target.url).hostname)
    const request = { url, endpoint, headers: { 'x-homeport-probe': options.probe_secret }, variants: missingVariants(target), signal }
    try {
      for await (const { variant, png } of screenshotter.take(request)) {
        // A newer version may have become live in between; the screenshot would show that version.
        if (signal.aborted || readRouteState(target) === 'not_routed') return
        await saveScreenshot({ ...target, variant }, png)
      }
    } finally {
      await endpoint.close()
    }
  }

  const saveScreenshot = async ({ project_id, deployment_id, variant }: ScreenshotFile, png: Uint8Array): Promise<void> => {
    const of = { project_id, deployment_id, variant }
    await files.write(of, png)
    const isInserted = await store.insert({ deployment_id, variant, bytes: png.byteLength, created_at: isoTime(options.clock.now()) })
    if (!isInserted) await files.remove(of)
  }

  /** Schedules a retry, up to a maximum number. */
  const scheduleRetry = ({ deployment_id }: ScreenshotTarget, what: 'tries' | 'waits', max: number): boolean => {
    const count = (counts[what].get(deployment_id) ?? 0) + 1
    counts[what].set(deployment_id, count)
    if (count >= max || isClosed) return false
    startTimer(retryDelay_ms, () => void updateDeployment(deployment_id).catch(logFailure))
    return true
  }

  const unsubscribe = events.subscribe((event) => {
    if (event.type === 'deployment_changed') updateDeployment(event.id).then(updateQueue).catch(logFailure)
    if (event.type === 'project_changed' && running?.target.project_id === event.id) updateDeployment(running.target.deployment_id).catch(logFailure)
    // An app that wakes writes that into its log.
    if (event.type !== 'log_appended' || sleepingByProject.size === 0) return
    const waiting = sleepingByProject.get(event.id)
    sleepingByProject.delete(event.id)
    for (const deploymentId of waiting ?? []) updateDeployment(deploymentId).catch(logFailure)
  })

  return {
    async read({ id, project_id }, variant) {
      return files.read({ project_id, deployment_id: id, variant })
    },

    async start() {
      for (const missingFile of await files.removeUnknown(await store.list())) await store.remove(missingFile.deployment_id, missingFile.variant)
      for (const target of await store.listCurrent()) enqueue(target)
    },

    async remove({ project_id, deployment_id }) {
      if (deployment_id === undefined) {
        await files.removeProject(project_id)
        await store.forget({ project_id })
      } else {
        await files.removeDeployment({ project_id, deployment_id })
        await store.forget({ deployment_id })
      }
    },

    check() {
      const name = screenshotter.name()
      if (name !== null) return { name: 'screenshots', status: 'ok', message: name, hint: null }
      return {
        name: 'screenshots',
        status: 'warning',
        message: 'No Chromium or Chrome was found, so deployments have no screenshots.',
        hint: 'Install Chromium (Debian and Ubuntu: sudo apt install chromium) or Google Chrome, or set HOMEPORT_CHROMIUM to a browser.',
      }
    },

    async close() {
      isClosed = true
      unsubscribe()
      for (const timer of timers) timer.cancel()
      running?.controller.abort(new Error('Homeport ends.'))
      await working
    },
  }
}
