import type { RuntimeState } from '../contract/deployments.ts'
import { StartFailure } from '../runtime/runtime.ts'
import type { App, AppSpec } from './app.ts'
import type { YardDeps } from './yard.ts'

/*
 *   awake ──▶ frozen ──▶ stopped        no visit for sleep_after_s; frozen_for_s over, or too much memory frozen
 *     ▲         │           │
 *     └─ thaw ──┴── start ──┘           the next request, or always_warm
 */

/** How an app sleeps. The edge holds its requests by the route `asleep` from the very tick in which this is set. */
export interface Sleep {
  /** By the monotonic clock. */
  since: number
  /** `stopped` has no instance any more. */
  depth: 'frozen' | 'stopped'
  /** The end of what is being done to the instance (freezing, stopping): nothing else may be done to it before. Never rejects. */
  settled: Promise<void>
  stopping: boolean
  waking: boolean
  memory_mb: number
}

/** What the sleep needs of those who keep the apps. */
export interface Sleepers {
  all(): Iterable<App>
  /** Puts the route of what the app is now, unless another has its traffic. */
  show(app: App): void
  /** Puts the page in place that holds requests for a start. */
  starts(app: App): void
  tell(spec: AppSpec, state: RuntimeState): void
  /** Starts it anew; resolves when it serves, has crashed or was given up. */
  bringBack(app: App): Promise<void>
  /** `is_cold` of its project follows. */
  noteCold(spec: AppSpec): void
}

export interface SleepWatch {
  /** Has an app go on; nothing happens to one that is awake, or is waking. A visit is counted as a cold start. */
  wake(app: App, by: 'visit' | 'setting'): void
  /** Goes on with a sleep that the last run of the platform began. */
  resume(app: App, depth: Sleep['depth']): void
  /** The machine slept: nobody was idle meanwhile. */
  resync(): void
  close(): void
}

/** A look that comes so much too late: the machine slept in between. */
const gap_ms = 5_000
/** So many are laid down at once, however many are due. */
const hands = 4
const stopGrace_ms = 10_000
const engineRetry_ms = 500

/** Lays apps down that nobody visits, and wakes them: one look at all of them about every second. */
export function createSleepWatch(deps: YardDeps, sleepers: Sleepers): SleepWatch {
  const monotonic = () => deps.clock.monotonic()
  const runtimeOf = (app: App) => deps.runtime(app.spec.runtime)
  let lookedAt = monotonic()
  /** Neither idleness nor sleep is counted from before this moment. */
  let notBefore = 0
  let busy = false

  const isIdle = (app: App): boolean => {
    if (app.always_warm || app.sleep || app.superseded || app.stopping.signal.aborted || !app.candidate?.instance) return false
    const since = deps.routes.idleSince(app.spec)
    return since !== undefined && monotonic() - Math.max(since, notBefore) >= deps.settings().sleep_after_s * 1_000
  }

  const hasSleptItsTime = (app: App): boolean => {
    const { sleep } = app
    if (sleep?.depth !== 'frozen' || sleep.waking || sleep.stopping) return false
    return monotonic() - Math.max(sleep.since, notBefore) >= deps.settings().frozen_for_s * 1_000
  }

  const lay = async (app: App): Promise<void> => {
    const { frozen_for_s, frozen_budget_mb } = deps.settings()
    const sleep = begin(app, 'frozen')
    sleepers.show(app)
    sleepers.tell(app.spec, 'cold')
    sleepers.noteCold(app.spec)
    if (frozen_for_s === 0 || frozen_budget_mb === 0) return stop(app, sleep)
    sleep.settled = freeze(app)
    await sleep.settled
  }

  const freeze = async (app: App): Promise<void> => {
    const { candidate, sleep } = app
    if (!candidate?.instance || !sleep) return
    const { id } = candidate.instance
    try {
      await runtimeOf(app).freeze(id)
    } catch (error) {
      deps.log.warn('app_not_frozen', { deployment: app.spec.deployment_id, error })
      return halt(app, sleep)
    }
    void measure(app, sleep)
  }

  /** Docker takes a second or two to say it: nobody waits for that. */
  const measure = async (app: App, sleep: Sleep): Promise<void> => {
    const id = app.candidate?.instance?.id
    const used =
      id === undefined
        ? null
        : await runtimeOf(app)
            .usage(id)
            .catch(() => null)
    sleep.memory_mb = used?.memory_mb ?? app.spec.memory_mb
    keepBudget()
  }

  const stop = async (app: App, sleep: Sleep): Promise<void> => {
    sleep.settled = sleep.settled.then(() => halt(app, sleep))
    await sleep.settled
  }

  const halt = async (app: App, sleep: Sleep): Promise<void> => {
    const { candidate } = app
    if (!candidate?.instance || sleep.waking) return
    sleep.stopping = true
    try {
      await runtimeOf(app).stop(candidate.instance.id, stopGrace_ms)
      if (app.candidate === candidate) app.candidate = null
      sleep.depth = 'stopped'
    } catch (error) {
      // It stays as it is, and the next look tries again.
      deps.log.warn('sleeping_app_not_stopped', { deployment: app.spec.deployment_id, error })
    } finally {
      sleep.stopping = false
    }
  }

  /** Stops those that are asleep for the longest, until the rest fits. */
  const keepBudget = (): void => {
    const frozen: { app: App; sleep: Sleep }[] = []
    let total = 0
    for (const app of sleepers.all()) {
      const { sleep } = app
      if (sleep?.depth !== 'frozen' || sleep.stopping || sleep.waking) continue
      frozen.push({ app, sleep })
      total += sleep.memory_mb
    }
    const budget = deps.settings().frozen_budget_mb
    if (total <= budget) return
    for (const { app, sleep } of frozen.sort((a, b) => a.sleep.since - b.sleep.since)) {
      if (total <= budget) return
      total -= sleep.memory_mb
      void stop(app, sleep)
    }
  }

  const look = (): void => {
    const now = monotonic()
    if (now - lookedAt > every() + gap_ms) notBefore = now
    lookedAt = now
    timer = deps.clock.setTimeout(look, every()).unref()
    if (busy) return
    const due: (() => Promise<void>)[] = []
    for (const app of sleepers.all()) {
      if (isIdle(app)) due.push(async () => (isIdle(app) ? lay(app) : undefined))
      else if (hasSleptItsTime(app)) due.push(async () => (app.sleep && hasSleptItsTime(app) ? stop(app, app.sleep) : undefined))
    }
    if (due.length > 0) void work(due)
    keepBudget()
  }

  const work = async (due: (() => Promise<void>)[]): Promise<void> => {
    busy = true
    const one = async () => {
      for (let job = due.shift(); job; job = due.shift()) await job().catch((error: unknown) => deps.log.error('app_not_laid_down', { error }))
    }
    await Promise.all(Array.from({ length: hands }, one))
    busy = false
  }

  const rise = async (app: App, sleep: Sleep): Promise<void> => {
    const { signal } = app.stopping
    // It has to be started: from now on its visitors wait for that, and no longer than for any start.
    if (sleep.stopping || !app.candidate) sleepers.starts(app)
    await sleep.settled
    while (app.candidate?.instance && !signal.aborted) {
      const { candidate } = app
      const { id } = app.candidate.instance
      try {
        await runtimeOf(app).thaw(id)
        if (signal.aborted || app.candidate !== candidate) continue
        app.sleep = null
        app.thawed_at = monotonic()
        sleepers.show(app)
        sleepers.tell(app.spec, 'running')
        sleepers.noteCold(app.spec)
        return
      } catch (error) {
        if (error instanceof StartFailure) {
          // It ended in its sleep; its end is told before what is left of it is gone.
          await runtimeOf(app)
            .stop(id, 0)
            .catch((cause: unknown) => deps.log.warn('leftover_not_removed', { deployment: app.spec.deployment_id, error: cause }))
          if (app.candidate === candidate) app.candidate = null
        } else if (!(await deps.pause(engineRetry_ms, signal))) return
      }
    }
    if (signal.aborted) return
    app.sleep = null
    app.exits = []
    sleepers.noteCold(app.spec)
    await sleepers.bringBack(app)
  }

  const begin = (app: App, depth: Sleep['depth']): Sleep =>
    (app.sleep = { since: monotonic(), depth, settled: Promise.resolve(), stopping: false, waking: false, memory_mb: 0 })

  const every = () => Math.min(1_000, deps.settings().sleep_after_s * 250)
  let timer = deps.clock.setTimeout(look, every()).unref()

  return {
    wake(app, by) {
      const { sleep } = app
      if (!sleep || sleep.waking) return
      sleep.waking = true
      const began = monotonic()
      void rise(app, sleep)
        .then(() => {
          if (by === 'visit' && app.candidate && !app.sleep) deps.edge.meter.coldStart(app.spec.project_id, monotonic() - began)
        })
        .catch((error: unknown) => deps.log.error('app_not_woken', { deployment: app.spec.deployment_id, error }))
    },
    resume(app, depth) {
      const sleep = begin(app, depth)
      if (depth === 'frozen') void measure(app, sleep)
    },
    resync() {
      notBefore = monotonic()
    },
    close() {
      timer.cancel()
    },
  }
}
