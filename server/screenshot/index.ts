import { join } from 'node:path'
import type { Check } from '../contract/instance.ts'
import { screenshotVariants, type ScreenshotVariant } from '../contract/previews.ts'
import type { Bus } from '../lib/bus.ts'
import { type Clock, isoTime, type Timer } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { createFiles, type FileOf } from './files.ts'
import type { Screenshotter, Shot } from './screenshot.ts'

const again_ms = 5_000
/** Once more, and then not in this run. */
const tries_max = 2
const waits_max = 12
/** A picture gives way to deployments for so long, and then no more. */
const yields_ms = 60_000

/** What serves now. */
export interface Sight {
  deployment_id: string
  project_id: string
  target: string
  branch: string | null
  url: string
  taken: ScreenshotVariant[]
}

/** What is remembered of the pictures; kept by the store. */
export interface Ledger {
  /** undefined: it serves no longer, or not yet. */
  find(deploymentId: string): Promise<Sight | undefined>
  listCurrent(): Promise<Sight[]>
  /** Whether something is being built or started. */
  isDeploying(): Promise<boolean>
  /** False: it serves no longer, and is not kept. */
  insert(row: { deployment_id: string; variant: ScreenshotVariant; bytes: number; created_at: string }): Promise<boolean>
  list(): Promise<FileOf[]>
  remove(deploymentId: string, variant: ScreenshotVariant): Promise<void>
  forget(place: { deployment_id: string } | { project_id: string }): Promise<void>
}

export interface ScreenshotsOptions {
  store: Ledger
  screenshotter: Screenshotter
  bus: Bus
  clock: Clock
  log: Log
  data_dir: string
  isWanted(): boolean
  /** What a name leads to right now. */
  routeOf(host: string): { kind: string; deployment_id: string | null } | undefined
  /** Where a name is at the edge of this run; what a row says may be of an earlier one, with another port. */
  urlOf(host: string): string
  /** A door of the edge where what asks is no visit. */
  openDoor(): Promise<Shot['door'] & { close(): Promise<void> }>
  look_secret: string
}

export interface Screenshots {
  read(of: { id: string; project_id: string }, variant: ScreenshotVariant): Promise<Uint8Array | undefined>
  /** Takes up what the last run left. */
  start(): Promise<void>
  /** Frees the pictures of one deployment, or all of a project. */
  forget(place: { project_id: string; deployment_id?: string }): Promise<void>
  check(): Check
  close(): Promise<void>
}

/**
 * Pictures of what serves, taken behind everything else: one browser at a time, right after a deployment became ready, while its
 * app is awake. An app that sleeps is not woken for it; it is looked at when somebody else has.
 */
export function createScreenshots(options: ScreenshotsOptions): Screenshots {
  const { store, bus, log, screenshotter } = options
  const files = createFiles(join(options.data_dir, 'screenshots'))
  /** What is still to be taken, by place: a newer deployment takes the turn of an older one of the same place. */
  const queue = new Map<string, Sight>()
  /** What slept when its turn came, by project. */
  const asleep = new Map<string, Set<string>>()
  const counts = { tries: new Map<string, number>(), waits: new Map<string, number>() }
  const timers = new Set<Timer>()
  /** Pictures wait for deployments to end, until this. */
  let yielding: { until: number; timer: Timer } | undefined
  let running: { sight: Sight; controller: AbortController } | undefined
  let working: Promise<void> = Promise.resolve()
  let closed = false

  const missing = (sight: Sight) => screenshotVariants.filter((variant) => !sight.taken.includes(variant))
  const placeOf = (sight: Sight) => `${sight.project_id} ${sight.target} ${sight.target === 'preview' ? sight.branch : ''}`
  /** Whether its name leads to this very deployment now, and how. */
  const placeNow = ({ url, deployment_id }: Sight): 'awake' | 'asleep' | 'elsewhere' => {
    const route = options.routeOf(new URL(url).hostname)
    if (route?.deployment_id !== deployment_id || route.kind === 'page') return 'elsewhere'
    return route.kind === 'asleep' ? 'asleep' : 'awake'
  }
  const failed = (error: unknown) => log.warn('screenshots_not_looked_after', { error })

  const enqueue = (sight: Sight): void => {
    if (closed || !options.isWanted() || missing(sight).length === 0) return
    if ((counts.tries.get(sight.deployment_id) ?? 0) >= tries_max || running?.sight.deployment_id === sight.deployment_id) return
    queue.set(placeOf(sight), sight)
    if (!running) proceed()
  }

  const proceed = (): void => void (working = working.then(work).catch(failed))

  /** Whether deployments need the machine: a browser would take as much of it as a build. */
  const mustYield = async (): Promise<boolean> => {
    const isDeploying = await store.isDeploying()
    if (!isDeploying && yielding) {
      forget(yielding.timer)
      yielding = undefined
    } else if (isDeploying) yielding ??= { until: options.clock.monotonic() + yields_ms, timer: wait(yields_ms, proceed) }
    return yielding !== undefined && options.clock.monotonic() < yielding.until
  }

  /** A deployment began or ended: a picture that is being taken is put off, or one that was put off is taken. */
  const reconsider = async (): Promise<void> => {
    if (!running) return queue.size > 0 ? proceed() : undefined
    if (!(await mustYield()) || !running) return
    const { sight, controller } = running
    if (!queue.has(placeOf(sight))) queue.set(placeOf(sight), sight)
    controller.abort(new Error('A deployment has begun.'))
  }

  const wait = (ms: number, run: () => void): Timer => {
    const timer = options.clock.setTimeout(() => {
      timers.delete(timer)
      run()
    }, ms)
    timers.add(timer.unref())
    return timer
  }

  const forget = (timer: Timer): void => {
    timer.cancel()
    timers.delete(timer)
  }

  const consider = async (deploymentId: string): Promise<void> => {
    const sight = await store.find(deploymentId)
    if (sight) return enqueue(sight)
    for (const [place, waiting] of queue) if (waiting.deployment_id === deploymentId) queue.delete(place)
    if (running?.sight.deployment_id === deploymentId) running.controller.abort(new Error('It serves no longer.'))
  }

  const work = async (): Promise<void> => {
    for (;;) {
      if (closed || queue.size === 0 || (await mustYield())) return
      const [key, waiting] = queue.entries().next().value ?? []
      if (key === undefined || waiting === undefined) return
      queue.delete(key)
      const sight = await store.find(waiting.deployment_id)
      if (!sight || missing(sight).length === 0 || screenshotter.name() === null || !options.isWanted()) continue
      const place = placeNow(sight)
      if (place !== 'awake') {
        asleep.set(sight.project_id, (asleep.get(sight.project_id) ?? new Set()).add(sight.deployment_id))
        // It may be on its way up, as all are after a start.
        if (place === 'elsewhere') later(sight, 'waits', waits_max)
        continue
      }
      const controller = new AbortController()
      running = { sight, controller }
      try {
        await take(sight, controller.signal)
      } catch (error) {
        if (!controller.signal.aborted) {
          const will_try_again = later(sight, 'tries', tries_max)
          log.warn('screenshot_not_taken', { deployment: sight.deployment_id, will_try_again, error })
        }
      } finally {
        running = undefined
      }
    }
  }

  const take = async (sight: Sight, signal: AbortSignal): Promise<void> => {
    const door = await options.openDoor()
    const url = options.urlOf(new URL(sight.url).hostname)
    const shot = { url, door, headers: { 'x-homeport-look': options.look_secret }, variants: missing(sight), signal }
    try {
      for await (const { variant, png } of screenshotter.take(shot)) {
        // A newer version may have come in between: then it was that one which stood before the camera.
        if (signal.aborted || placeNow(sight) === 'elsewhere') return
        await keep({ ...sight, variant }, png)
      }
    } finally {
      await door.close()
    }
  }

  const keep = async ({ project_id, deployment_id, variant }: FileOf, png: Uint8Array): Promise<void> => {
    const of = { project_id, deployment_id, variant }
    await files.write(of, png)
    if (await store.insert({ deployment_id, variant, bytes: png.byteLength, created_at: isoTime(options.clock.now()) }))
      bus.emit(`deployment:${deployment_id}`)
    else await files.remove(of)
  }

  /** Looks at it again in a while, unless that was done often enough. */
  const later = ({ deployment_id }: Sight, what: 'tries' | 'waits', most: number): boolean => {
    const count = (counts[what].get(deployment_id) ?? 0) + 1
    counts[what].set(deployment_id, count)
    if (count >= most || closed) return false
    wait(again_ms, () => void consider(deployment_id).catch(failed))
    return true
  }

  const off = bus.onAny((name) => {
    const [kind, id = ''] = name.split(':')
    if (kind === 'deployment') consider(id).then(reconsider).catch(failed)
    if (kind === 'project' && running?.sight.project_id === id) consider(running.sight.deployment_id).catch(failed)
    // That an app is awake again is said in its log.
    if (kind !== 'log' || asleep.size === 0) return
    const waiting = asleep.get(id)
    asleep.delete(id)
    for (const deploymentId of waiting ?? []) consider(deploymentId).catch(failed)
  })

  return {
    async read({ id, project_id }, variant) {
      return files.read({ project_id, deployment_id: id, variant })
    },

    async start() {
      for (const gone of await files.sweep(await store.list())) await store.remove(gone.deployment_id, gone.variant)
      for (const sight of await store.listCurrent()) enqueue(sight)
    },

    async forget({ project_id, deployment_id }) {
      if (deployment_id === undefined) {
        await files.forget(project_id)
        await store.forget({ project_id })
      } else {
        await files.drop({ project_id, deployment_id })
        await store.forget({ deployment_id })
      }
    },

    check() {
      const name = screenshotter.name()
      if (name !== null) return { name: 'screenshots', status: 'ok', message: name, mend: null }
      return {
        name: 'screenshots',
        status: 'warning',
        message: 'No Chromium or Chrome was found: no screenshots are taken of what is deployed.',
        mend: 'Install Chromium (Debian and Ubuntu: sudo apt install chromium) or Google Chrome, or name one with HOMEPORT_CHROMIUM.',
      }
    },

    async close() {
      closed = true
      off()
      for (const timer of timers) timer.cancel()
      running?.controller.abort(new Error('Homeport ends.'))
      await working
    },
  }
}
