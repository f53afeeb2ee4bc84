import type { RuntimeName } from '../contract/deployments.ts'
import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import type { Route } from '../edge/edge.ts'
import { type ExistingReplica, type Runtime, StartFailure } from '../runtime/runtime.ts'
import { updatePreview } from '../store/previews.ts'
import { findProject, updateProject } from '../store/projects.ts'
import type { AppSpec, Candidate, SupervisedApp } from './supervised-app.ts'
import { createRuntimeLogs, type OutputListener } from './runtime-logs.ts'
import { requireIsolation } from './isolation.ts'
import { findPublicListeners, type PublicListener, waitUntilReady } from './readiness.ts'
import { createIdleMonitor } from './idle.ts'
import { type AppUsage, createUsageReader } from './usage.ts'
import type { DeploymentContext } from './context.ts'

export interface Supervisor {
  /** `onOutput` receives the app's output too, so that a failed start can show it in the build log. */
  launch(spec: AppSpec, signal: AbortSignal, onOutput?: OutputListener): Promise<Candidate>
  /** Waits until a candidate answers, and returns what is to get the traffic: it may have been started anew. `note` hears of other ports. */
  waitUntilServing(candidate: Candidate, signal: AbortSignal, onNote: (line: string) => void, onOutput?: OutputListener): Promise<Candidate>
  /** Stops a candidate that will not be promoted. */
  stopCandidate(candidate: Candidate): Promise<void>
  /**
   * Gives it the traffic at once. The answer: `commit` makes it stay and resolves when the one before is drained and stopped;
   * `revert` puts the one before back, and leaves the candidate to be withdrawn.
   */
  promote(candidate: Candidate): { commit(): Promise<void>; revert(): Promise<void> }
  /**
   * Stops what serves the slot of a candidate that cannot start beside it, because both listen on one fixed port; visitors wait.
   * undefined when it has no such port.
   */
  stopForFixedPort(spec: AppSpec): Promise<{ listen_port: number; resume(): Promise<void> } | undefined>
  /** Takes over a container that outlived the platform, asleep when it is frozen; undefined when it is gone. */
  adopt(spec: AppSpec, existing: ExistingReplica): Promise<Candidate | undefined>
  /** Brings a current deployment back after a restart, with the same patience as after an exit; one that slept sleeps on. */
  restore(spec: AppSpec, asleep: boolean): void
  /** Somebody asked for an app that sleeps. */
  wake(projectId: string, deploymentId: string): void
  /** The project changed: one that is to stay warm is woken. */
  applyProjectSettings(projectId: string): void
  /** Stops everything of a project, or all there is; the edge is told by the caller. */
  stopProject(projectId: string): Promise<void>
  /** Stops what serves the preview of a branch. */
  stopPreview(projectId: string, branch: string): Promise<void>
  stopAll(runtimes: readonly RuntimeName[]): Promise<void>
  /** Whether it looks after this deployment: it serves, or is being brought back. */
  isSupervising(deploymentId: string): boolean
  /** What runs as a process of this machine, and listens now on more than loopback; `ports` is undefined where the system does not tell. */
  findPublicPorts(): Promise<PublicListener[]>
  /** What the app of a project uses now; null when nothing runs. */
  getUsage(projectId: string): Promise<AppUsage | null>
  /** The machine slept. */
  resync(): void
  /** Forgets timers without stopping anything: the platform ends, apps go on. */
  detach(): void
}

const stopGrace_ms = 10_000
/** What is under way at an app that has just ended hears that from its own connection, and answers for itself. */
const exitedDrain_ms = 1_000
/** What was stored may be on its way to a slow client for long: that an app wakes is no reason to cut it. */
const cachedDrain_ms = 3_600_000
/** An end so soon after a thaw happened while it was frozen: no failure to start, and nothing to wait for. */
const thawGrace_ms = 2_000
/** At the platform's own end there is less time: ten seconds for everything. */
const shutdownGrace_ms = 4_000

/** Keeps the apps that serve alive: one per project and target (and branch), each with its output, back-off and route. */
export function createSupervisor(context: DeploymentContext): Supervisor {
  const apps = new Map<string, SupervisedApp>()
  const runtimeLogs = createRuntimeLogs(context)
  const { recordState, observeOutput } = runtimeLogs

  const getSlotKey = (spec: Pick<AppSpec, 'project_id' | 'target' | 'branch'>) =>
    `${spec.project_id}\0${spec.target}\0${spec.target === 'preview' ? (spec.branch ?? '') : ''}`
  const findProductionApp = (projectId: string) => apps.get(getSlotKey({ project_id: projectId, target: 'production', branch: null }))

  const runtimeOf = (spec: AppSpec): Runtime => context.runtime(spec.runtime)

  const checkIsolation = (spec: AppSpec) =>
    context.store.db.read((tx) => {
      const project = findProject(tx, spec.project_id)
      if (project) requireIsolation(tx, project, runtimeOf(spec))
    })

  const launch = async (spec: AppSpec, signal: AbortSignal, onOutput?: OutputListener): Promise<Candidate> => {
    if (spec.artifact.kind === 'static') return { spec, replica: null, exited: new Promise(() => {}) }
    await checkIsolation(spec)
    const { exited, observer } = observeOutput(spec, onOutput)
    recordState(spec, 'starting')
    const replica = await runtimeOf(spec).start({
      project_id: spec.project_id,
      deployment_id: spec.deployment_id,
      artifact: spec.artifact,
      listen_port: spec.listen_port,
      variables: spec.variables,
      memory_mb: spec.memory_mb,
      signal,
      ...observer,
    })
    return { spec, replica, exited }
  }

  const stopReplica = async (candidate: Candidate | null, grace_ms = stopGrace_ms): Promise<void> => {
    if (!candidate?.replica) return
    await runtimeOf(candidate.spec).stop(candidate.replica.id, grace_ms)
    recordState(candidate.spec, 'stopped')
  }

  const waitUntilServing: Supervisor['waitUntilServing'] = (candidate, signal, onNote, onOutput) =>
    waitUntilReady(context, candidate, signal, onNote, { launch: (spec) => launch(spec, signal, onOutput), stopCandidate: stopReplica })

  const createRoute = (candidate: Candidate): Route => {
    const owner = context.routes.getRouteMetadata(candidate.spec)
    const { artifact } = candidate.spec
    if (artifact.kind === 'static') return { ...owner, kind: 'static', directory: artifact.directory, spa_fallback: artifact.spa_fallback }
    if (!candidate.replica) throw new Error('A candidate without an instance cannot be routed.')
    return { ...owner, kind: 'upstream', host: candidate.replica.host, port: candidate.replica.port }
  }

  /** Puts the route of what the app is now, unless another has its traffic. */
  const updateRoute = (app: SupervisedApp): void => {
    if (app.isSuperseded) return
    if (app.sleep) void context.routes.setRoute(app.spec, { ...context.routes.getRouteMetadata(app.spec), kind: 'asleep' })
    else if (app.candidate) void context.routes.setRoute(app.spec, createRoute(app.candidate), cachedDrain_ms)
    else showStartingPage(app)
  }

  const showStartingPage = (app: SupervisedApp): void => {
    if (!app.isSuperseded) context.routes.showPage(app.spec, 'starting', app.sleep ? cachedDrain_ms : exitedDrain_ms)
  }

  /** Waits for the end of what serves a slot, and brings it back; what ends in its sleep is started by the next request. */
  const watchExit = (app: SupervisedApp) => {
    const { candidate } = app
    const { replica } = candidate ?? {}
    if (!candidate || !replica) return
    void candidate.exited.then((exit) => {
      if (app.stopController.signal.aborted || app.candidate !== candidate || app.sleep?.isStopping) return
      app.candidate = null
      recordState(app.spec, exit.out_of_memory ? 'oom' : 'exited', exit.code)
      const now = context.clock.monotonic()
      // What is left of it (a dead container) goes before the next one starts.
      const removed = runtimeOf(app.spec)
        .stop(replica.id, 0)
        .catch((error: unknown) => context.log.warn('leftover_not_removed', { deployment: app.spec.deployment_id, error }))
      if (app.sleep) {
        app.sleep.mode = 'stopped'
        app.sleep.transition = removed
        return
      }
      app.recentExits = app.recentExits.filter((at) => now - at < limits.restart.within_ms)
      if (now - app.thawed_at > thawGrace_ms) app.recentExits.push(now)
      void removed.then(() => restartApp(app))
    })
  }

  /** One attempt at a time: who asks meanwhile waits for the same. */
  const restartApp = (app: SupervisedApp): Promise<void> =>
    (app.restarting ??= attemptRestart(app).finally(() => {
      app.restarting = null
    }))

  const attemptRestart = async (app: SupervisedApp): Promise<void> => {
    const { signal } = app.stopController
    if (signal.aborted) return
    if (app.recentExits.length >= limits.restart.exits) {
      if (!app.isSuperseded) context.routes.showPage(app.spec, 'crashed', exitedDrain_ms)
      if (app.spec.target === 'production') await context.recordCrash(app.spec.project_id, app.spec.deployment_id)
      return
    }
    updateRoute(app)
    const wait = app.recentExits.length === 0 ? 0 : Math.min(limits.restart.first_ms * 2 ** (app.recentExits.length - 1), limits.restart.max_ms)
    if (!(await context.pause(wait, signal))) return
    let candidate: Candidate | undefined
    try {
      candidate = await launch(app.spec, signal)
      const { observer } = observeOutput(app.spec)
      candidate = await waitUntilServing(candidate, signal, (line) => observer.onLine('stderr', line))
      signal.throwIfAborted()
      app.candidate = candidate
      app.spec = candidate.spec
      updateRoute(app)
      if (candidate.replica) recordState(app.spec, 'running')
      watchExit(app)
    } catch (error) {
      if (candidate) await stopReplica(candidate).catch(() => {})
      if (signal.aborted) return
      context.log.warn('app_not_back', { deployment: app.spec.deployment_id, error })
      // The owner of the app looks for the reason in its log.
      if (error instanceof Problem || error instanceof StartFailure)
        observeOutput(app.spec).observer.onLine('stderr', `Not started: ${error.message}`)
      const { available } = await runtimeOf(app.spec).probe()
      // An engine that is away is nobody's crash: it is asked again soon.
      if (available) app.recentExits = [...app.recentExits, context.clock.monotonic()]
      else if (!(await context.pause(2_000, signal))) return
      return attemptRestart(app)
    }
  }

  const registerApp = (spec: AppSpec, candidate: Candidate | null): SupervisedApp => {
    const app: SupervisedApp = {
      spec,
      candidate,
      restarting: null,
      recentExits: [],
      stopController: new AbortController(),
      always_warm: spec.always_warm,
      sleep: null,
      thawed_at: -Infinity,
      isSuperseded: false,
    }
    apps.set(getSlotKey(spec), app)
    watchExit(app)
    return app
  }

  /** Writes down whether a project sleeps, as it is at that moment: several at once end with the truth. */
  const saveColdState = (appSlot: Pick<AppSpec, 'project_id' | 'target' | 'branch'>): void => {
    const { project_id, target, branch } = appSlot
    context.store.db
      .write((tx) => {
        const is_cold = apps.get(getSlotKey(appSlot))?.sleep ? 1 : 0
        if (target === 'production') updateProject(tx, project_id, { is_cold })
        else updatePreview(tx, project_id, branch ?? '', { is_cold })
        tx.publish({ type: 'project_changed', id: project_id })
      })
      .catch((error: unknown) => context.log.warn('cold_not_noted', { project: project_id, error }))
  }

  const idle = createIdleMonitor(context, {
    listApps: () => apps.values(),
    updateRoute,
    showStartingPage,
    recordState,
    restartApp: (app) => restartApp(app),
    saveColdState,
  })

  /** Those that drain or are being stopped. They have no slot any more, and must not outlive the platform all the same. */
  const draining = new Set<Candidate>()

  /** What is over stays so: an engine that is away now stops it when it is back, also after a restart. */
  const stopOrScheduleCleanup = (candidate: Candidate): Promise<void> =>
    stopReplica(candidate).catch(async (error: unknown) => {
      const { deployment_id, runtime } = candidate.spec
      context.log.warn('instance_stops_later', { deployment: deployment_id, error })
      if (candidate.replica) await context.scheduleCleanup({ kind: 'instance', runtime, instance_id: candidate.replica.id })
    })

  const stopApp = async (app: SupervisedApp, stop = stopOrScheduleCleanup): Promise<void> => {
    app.stopController.abort()
    // An attempt that is under way hears of the abort, and ends what it has started.
    await app.restarting?.catch(() => {})
    const { candidate } = app
    app.candidate = null
    if (!candidate) {
      if (app.sleep) recordState(app.spec, 'stopped')
      return
    }
    draining.add(candidate)
    await app.sleep?.transition
    await stop(candidate).finally(() => draining.delete(candidate))
  }

  return {
    launch,
    waitUntilServing,
    stopCandidate: (candidate) => stopReplica(candidate),
    promote(candidate) {
      const slotKey = getSlotKey(candidate.spec)
      const old = apps.get(slotKey)
      if (old) old.isSuperseded = true
      const drained = context.routes.setRoute(candidate.spec, createRoute(candidate), limits.drain_ms)
      return {
        async commit() {
          registerApp(candidate.spec, candidate)
          old?.stopController.abort()
          if (old?.candidate) draining.add(old.candidate)
          if (candidate.replica) recordState(candidate.spec, 'running')
          await drained
          if (old) await stopApp(old)
        },
        async revert() {
          // The page that stands in its place is put right by the end of the deployment.
          if (!old) return context.routes.showPage(candidate.spec, 'building', 0)
          old.isSuperseded = false
          updateRoute(old)
        },
      }
    },
    async stopForFixedPort(spec) {
      const app = apps.get(getSlotKey(spec))
      const { candidate } = app ?? {}
      const listen_port = app?.spec.listen_port ?? null
      if (!app || !candidate?.replica || listen_port === null) return undefined
      await app.sleep?.transition
      app.candidate = null
      if (app.sleep) app.sleep.mode = 'stopped'
      else showStartingPage(app)
      await stopReplica(candidate)
      return { listen_port, resume: async () => (app.sleep ? undefined : restartApp(app)) }
    },
    async adopt(spec, existing) {
      const { exited, observer } = observeOutput(spec)
      const replica = await runtimeOf(spec).adopt(existing, observer)
      if (!replica) return undefined
      const candidate = { spec, replica, exited }
      const app = registerApp(spec, candidate)
      if (existing.frozen) idle.restoreSleep(app, 'frozen')
      updateRoute(app)
      saveColdState(spec)
      if (app.always_warm) idle.wake(app, 'setting')
      return candidate
    },
    restore(spec, asleep) {
      const app = registerApp(spec, null)
      if (asleep) {
        idle.restoreSleep(app, 'stopped')
        return updateRoute(app)
      }
      saveColdState(spec)
      void restartApp(app).catch((error: unknown) => context.log.error('app_not_revived', { deployment: spec.deployment_id, error }))
    },
    wake(projectId, deploymentId) {
      for (const app of apps.values()) if (app.spec.project_id === projectId && app.spec.deployment_id === deploymentId) idle.wake(app, 'visit')
    },
    applyProjectSettings(projectId) {
      const app = findProductionApp(projectId)
      if (!app) return
      app.always_warm = context.store.db.readSync((tx) => findProject(tx, projectId))?.always_warm === 1
      if (app.always_warm) idle.wake(app, 'setting')
    },
    async stopProject(projectId) {
      const projectApps = [...apps].filter(([, app]) => app.spec.project_id === projectId)
      for (const [slotKey] of projectApps) apps.delete(slotKey)
      saveColdState({ project_id: projectId, target: 'production', branch: null })
      await Promise.all(projectApps.map(([, app]) => stopApp(app)))
    },
    async stopPreview(projectId, branch) {
      const slotKey = getSlotKey({ project_id: projectId, target: 'preview', branch })
      const app = apps.get(slotKey)
      apps.delete(slotKey)
      if (app) await stopApp(app)
      runtimeLogs.close({ project_id: projectId, target: 'preview', branch })
    },
    async stopAll(names) {
      const projectApps = [...apps].filter(([, app]) => names.includes(app.spec.runtime))
      for (const [slotKey] of projectApps) apps.delete(slotKey)
      const drainingCandidates = [...draining].filter((candidate) => names.includes(candidate.spec.runtime))
      await Promise.all([
        ...projectApps.map(([, app]) => stopApp(app, (candidate) => stopReplica(candidate, shutdownGrace_ms))),
        ...drainingCandidates.map((candidate) => stopReplica(candidate, 0)),
      ])
    },
    findPublicPorts: () => findPublicListeners(apps.values()),
    getUsage: createUsageReader(context, findProductionApp),
    isSupervising: (deploymentId) => [...apps.values()].some((app) => app.spec.deployment_id === deploymentId),
    resync: () => idle.resync(),
    detach() {
      idle.close()
      for (const app of apps.values()) app.stopController.abort()
      runtimeLogs.flush()
    },
  }
}
