import type { RuntimeState } from '../contract/deployments.ts'
import { StartFailure } from '../runtime/runtime.ts'
import type { SupervisedApp, AppSpec } from './supervised-app.ts'
import type { DeploymentContext } from './context.ts'
import type { SleepState } from './supervised-app.ts'
import type { ServiceSupervisor } from './service-supervisor.ts'

/*
 *   awake ──▶ frozen ──▶ stopped        no visit for sleep_after_s; frozen_for_s over, or too much memory frozen
 *     ▲         │           │
 *     └─ thaw ──┴── start ──┘           the next request, or always_warm
 */

/** The functions of the supervisor that the idle monitor needs. */
export interface IdleMonitorHooks {
  listApps(): Iterable<SupervisedApp>
  /** Sets the route for the app's current state, unless another app has its traffic. */
  updateRoute(app: SupervisedApp): void
  /** Routes an app that falls asleep. Resolves when no request is open. */
  routeAsleep(app: SupervisedApp): Promise<void>
  /** Sets the page that holds requests during a start. */
  showStartingPage(app: SupervisedApp): void
  recordState(spec: AppSpec, state: RuntimeState): void
  /** Starts the app again; resolves when it is live, has crashed or was abandoned. */
  restartApp(app: SupervisedApp): Promise<void>
  /** Saves the files that are lost when the replica of an app ends. */
  saveFiles(app: SupervisedApp): Promise<void>
  /** Updates `is_cold` of its project. */
  saveColdState(spec: AppSpec): void
  /** The environment sleeps and wakes as a whole. */
  services: Pick<ServiceSupervisor, 'freezeOwn' | 'thaw' | 'stop' | 'revive' | 'isBusy'>
}

export interface IdleMonitor {
  /** Wakes an app; no effect on an app that is awake or waking. A request counts as a cold start. */
  wake(app: SupervisedApp, by: 'request' | 'setting'): void
  /** Restores a sleep that began in the previous run of the platform. */
  restoreSleep(app: SupervisedApp, mode: SleepState['mode']): void
  /** Restarts the idle timers after the machine slept, because the time of its sleep does not count as idle. */
  resync(): void
  close(): void
}

/** A check this late means that the machine slept. */
const systemSleepGap_ms = 5_000
/** Limits how many apps are put to sleep at the same time. */
const maxConcurrentTransitions = 4
const stopGrace_ms = 10_000
const engineRetry_ms = 500

/** Puts idle apps to sleep and wakes them. Checks all apps about once a second. */
export function createIdleMonitor(context: DeploymentContext, hooks: IdleMonitorHooks): IdleMonitor {
  const monotonic = () => context.clock.monotonic()
  const runtimeOf = (app: SupervisedApp) => context.runtime(app.spec.runtime)
  let lastTickAt = monotonic()
  /** Idle time and sleep before this moment do not count. */
  let countFrom = 0
  let isBusy = false

  const isIdle = (app: SupervisedApp): boolean => {
    if (app.always_warm || app.sleep || app.replacement || app.isSuperseded || app.stopController.signal.aborted || !app.candidate?.replica)
      return false
    if ([...context.environmentsWithCommands.values()].includes(app.spec.environment_id)) return false
    if (app.spec.services.length > 0 && [...context.environmentsInUse.values()].includes(app.spec.environment_id)) return false
    const since = context.routes.idleSince(app.spec)
    return since !== undefined && monotonic() - Math.max(since, app.busy_at, countFrom) >= context.settings().sleep_after_s * 1_000
  }

  const isFrozenTooLong = (app: SupervisedApp): boolean => {
    const { sleep } = app
    if (sleep?.mode !== 'frozen' || sleep.isWaking || sleep.isStopping) return false
    // The files of a frozen replica are still there.
    if (app.has_unsaved_files) return false
    return monotonic() - Math.max(sleep.since, countFrom) >= context.settings().frozen_for_s * 1_000
  }

  const putToSleep = async (app: SupervisedApp): Promise<void> => {
    if (app.spec.services.length > 0 && (await hooks.services.isBusy(app.spec))) {
      app.busy_at = monotonic()
      return
    }
    if (!isIdle(app)) return
    const { frozen_for_s, frozen_budget_mb } = context.settings()
    const sleep = beginSleep(app, 'frozen')
    const drained = hooks.routeAsleep(app)
    hooks.recordState(app.spec, 'cold')
    hooks.saveColdState(app.spec)
    sleep.transition = drained
    if (frozen_for_s === 0 || frozen_budget_mb === 0) return queueStop(app, sleep)
    sleep.transition = drained.then(() => freeze(app))
    await sleep.transition
  }

  const freeze = async (app: SupervisedApp): Promise<void> => {
    const { candidate, sleep } = app
    if (!candidate?.replica || !sleep) return
    const { id } = candidate.replica
    try {
      await Promise.all([runtimeOf(app).freeze(id), hooks.services.freezeOwn(app.spec)])
    } catch (error) {
      context.log.warn('app_freeze_failed', { deployment: app.spec.deployment_id, error })
      return stopReplica(app, sleep)
    }
    void measureMemory(app, sleep)
  }

  /** Docker takes a second or two to measure, so the caller does not wait. */
  const measureMemory = async (app: SupervisedApp, sleep: SleepState): Promise<void> => {
    const id = app.candidate?.replica?.id
    const used =
      id === undefined
        ? null
        : await runtimeOf(app)
            .usage(id)
            .catch(() => null)
    sleep.memory_mb = (used?.memory_mb ?? app.spec.memory_mb) * app.spec.replicas
    enforceMemoryBudget()
  }

  const queueStop = async (app: SupervisedApp, sleep: SleepState): Promise<void> => {
    sleep.transition = sleep.transition.then(() => stopReplica(app, sleep))
    await sleep.transition
  }

  const stopReplica = async (app: SupervisedApp, sleep: SleepState): Promise<void> => {
    const { candidate } = app
    if (!candidate?.replica || sleep.isWaking) return
    sleep.isStopping = true
    try {
      await hooks.saveFiles(app)
      await runtimeOf(app).stop(candidate.replica.id, stopGrace_ms)
      await hooks.services.stop(app.spec)
      if (app.candidate === candidate) app.candidate = null
      sleep.mode = 'stopped'
    } catch (error) {
      // The state is unchanged; the next check tries again.
      context.log.warn('sleeping_app_stop_failed', { deployment: app.spec.deployment_id, error })
    } finally {
      sleep.isStopping = false
    }
  }

  /** Stops the apps that have slept longest, until the rest fits the budget. */
  const enforceMemoryBudget = (): void => {
    const frozen: { app: SupervisedApp; sleep: SleepState }[] = []
    let total = 0
    for (const app of hooks.listApps()) {
      const { sleep } = app
      if (sleep?.mode !== 'frozen' || sleep.isStopping || sleep.isWaking) continue
      frozen.push({ app, sleep })
      total += sleep.memory_mb
    }
    const budget = context.settings().frozen_budget_mb
    if (total <= budget) return
    for (const { app, sleep } of frozen.sort((a, b) => a.sleep.since - b.sleep.since)) {
      if (total <= budget) return
      total -= sleep.memory_mb
      void queueStop(app, sleep)
    }
  }

  const tick = (): void => {
    const now = monotonic()
    if (now - lastTickAt > getInterval() + systemSleepGap_ms) countFrom = now
    lastTickAt = now
    timer = context.clock.setTimeout(tick, getInterval()).unref()
    if (isBusy) return
    const due: (() => Promise<void>)[] = []
    for (const app of hooks.listApps()) {
      if (isIdle(app)) due.push(async () => (isIdle(app) ? putToSleep(app) : undefined))
      else if (isFrozenTooLong(app)) due.push(async () => (app.sleep && isFrozenTooLong(app) ? queueStop(app, app.sleep) : undefined))
    }
    if (due.length > 0) void runTransitions(due)
    enforceMemoryBudget()
  }

  const runTransitions = async (due: (() => Promise<void>)[]): Promise<void> => {
    isBusy = true
    const runNext = async () => {
      for (let job = due.shift(); job; job = due.shift()) await job().catch((error: unknown) => context.log.error('app_sleep_failed', { error }))
    }
    await Promise.all(Array.from({ length: maxConcurrentTransitions }, runNext))
    isBusy = false
  }

  const wakeUp = async (app: SupervisedApp, sleep: SleepState): Promise<void> => {
    const { signal } = app.stopController
    // The app must be started: its visitors wait for that start, no longer than for any start.
    if (sleep.isStopping || !app.candidate) hooks.showStartingPage(app)
    await sleep.transition
    while (app.candidate?.replica && !signal.aborted) {
      const { candidate } = app
      const { id } = app.candidate.replica
      try {
        await hooks.services.thaw(app.spec)
        // A version that failed meanwhile may have replaced them.
        await hooks.services.revive(app.spec, 'images', signal)
        await runtimeOf(app).thaw(id)
        if (signal.aborted || app.candidate !== candidate) continue
        app.sleep = null
        app.thawed_at = monotonic()
        hooks.updateRoute(app)
        hooks.recordState(app.spec, 'running')
        hooks.saveColdState(app.spec)
        return
      } catch (error) {
        if (error instanceof StartFailure) {
          // The replica exited while asleep; its exit is reported before it is removed.
          await runtimeOf(app)
            .stop(id, 0)
            .catch((cause: unknown) => context.log.warn('leftover_cleanup_failed', { deployment: app.spec.deployment_id, error: cause }))
          if (app.candidate === candidate) app.candidate = null
        } else if (!(await context.pause(engineRetry_ms, signal))) return
      }
    }
    if (signal.aborted) return
    app.sleep = null
    app.recentExits = []
    hooks.saveColdState(app.spec)
    await hooks.restartApp(app)
  }

  const beginSleep = (app: SupervisedApp, mode: SleepState['mode']): SleepState =>
    (app.sleep = { since: monotonic(), mode, transition: Promise.resolve(), isStopping: false, isWaking: false, memory_mb: 0 })

  const getInterval = () => Math.min(1_000, context.settings().sleep_after_s * 250)
  let timer = context.clock.setTimeout(tick, getInterval()).unref()

  return {
    wake(app, by) {
      const { sleep } = app
      if (!sleep || sleep.isWaking) return
      sleep.isWaking = true
      const startedAt = monotonic()
      void wakeUp(app, sleep)
        .then(() => {
          if (by === 'request' && app.candidate && !app.sleep) context.edge.metrics.recordColdStart(app.spec.project_id, monotonic() - startedAt)
        })
        .catch((error: unknown) => context.log.error('app_wake_failed', { deployment: app.spec.deployment_id, error }))
    },
    restoreSleep(app, mode) {
      const sleep = beginSleep(app, mode)
      if (mode === 'frozen') void measureMemory(app, sleep)
    },
    resync() {
      countFrom = monotonic()
    },
    close() {
      timer.cancel()
    },
  }
}
