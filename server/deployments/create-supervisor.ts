import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import { type Runtime, StartFailure } from '../runtime/runtime.ts'
import { findProject } from '../store/projects.ts'
import { type AppSpec, type Candidate, createSupervisedApp, getEnvironmentId, getSlotKey, type SupervisedApp } from './supervised-app.ts'
import { describeStart } from './describe-start.ts'
import { createRuntimeLogs, type OutputListener } from './runtime-logs.ts'
import { requireIsolation } from './isolation.ts'
import { findPublicListeners, waitUntilReady } from './readiness.ts'
import { createIdleMonitor } from './idle.ts'
import { createUsageReader, readAllUsage } from './usage.ts'
import { createAppRoutes, exitedDrain_ms } from './app-routes.ts'
import type { DeploymentContext } from './context.ts'
import { createColdStateWriter } from './cold-state.ts'
import { createAppScaler } from './app-scaler.ts'
import { createAutoscaler } from './autoscaler.ts'
import { createServiceSupervisor } from './create-service-supervisor.ts'
import { createServiceCrashRecorder } from './service-crashes.ts'
import { createEnvironments } from './environments.ts'
import { createWrittenFilesInspector, type InspectedApp, losesFilesWithReplica } from './written-files.ts'
import type { Supervisor } from './supervisor.ts'

const stopGrace_ms = 10_000
/** An exit this soon after a thaw happened while the app was frozen, so it is no failed start and needs no back-off. */
const thawGrace_ms = 2_000
/** At shutdown there are ten seconds for all steps. */
const shutdownGrace_ms = 4_000

/** Keeps live apps running: one per project and target (and branch), each with its output, back-off and route. */
export function createSupervisor(context: DeploymentContext): Supervisor {
  const apps = new Map<string, SupervisedApp>()
  const runtimeLogs = createRuntimeLogs(context)
  const { recordState, observeOutput } = runtimeLogs
  const updateService = (projectId: string, ownerId: string): void => {
    for (const app of apps.values())
      if (app.spec.deployment_id === ownerId || app.spec.environment_id === ownerId) {
        if (app.isSuperseded || app.sleep) updateServiceRoutes(app)
        else onReplicasChanged(app)
      }
    context.events.publish({ type: 'project_changed', id: projectId })
  }
  const services = createServiceSupervisor(context, runtimeLogs, updateService, createServiceCrashRecorder(context))

  const inspector = createWrittenFilesInspector(context, (spec, line) => observeOutput(spec).observer.onLine('stderr', line))
  const toInspected = (app: SupervisedApp, candidate = app.candidate): InspectedApp => ({
    spec: app.spec,
    findReplica: (name) => (name === (app.spec.main_service ?? '') ? candidate?.replica?.id : services.find(app.spec, name)?.replica?.id) ?? null,
  })

  const findProductionApp = (projectId: string) => apps.get(getSlotKey({ project_id: projectId, target: 'production', branch: null }))

  const appRoutes = createAppRoutes(context, services)
  const { createRoute, updateServiceRoutes, countServing, updateRoute, routeAsleep, showStartingPage } = appRoutes
  const { onReplicasChanged, settleCrash, scale, applyReplicas, startOthers, detachCandidate, restoreReplicas } = createAppScaler(
    context,
    services,
    appRoutes,
    (spec) => apps.get(getSlotKey(spec)),
  )

  const runtimeOf = (spec: AppSpec): Runtime => context.runtime(spec.runtime)
  const checkIsolation = (spec: AppSpec) =>
    context.store.db.read((tx) => {
      const project = findProject(tx, spec.project_id)
      if (project) requireIsolation(tx, project, spec.runtime)
    })

  const launch = async (spec: AppSpec, signal: AbortSignal, onOutput?: OutputListener): Promise<Candidate> => {
    const { artifact } = spec
    if (artifact && artifact.kind !== 'static') await checkIsolation(spec)
    await services.start(spec, 'before_main', signal, onOutput)
    if (!artifact || artifact.kind === 'static') return { spec, replica: null, exited: new Promise(() => {}) }
    const { exited, observer } = observeOutput(spec, onOutput)
    recordState(spec, 'starting')
    const replica = await runtimeOf(spec).start({
      ...describeStart(spec),
      artifact,
      variables: { ...spec.variables, ...services.getAddresses(spec) },
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

  /** Waits for the exit of a slot's app and restarts it; an app that exits while asleep is started by the next request. */
  const watchExit = (app: SupervisedApp) => {
    const { candidate } = app
    const { replica } = candidate ?? {}
    if (!candidate || !replica) return
    void candidate.exited.then((exit) => {
      if (app.stopController.signal.aborted || app.candidate !== candidate || app.sleep?.isStopping) return
      app.candidate = null
      recordState(app.spec, exit.out_of_memory ? 'oom' : 'exited', exit.code)
      if (!app.sleep && countServing(app) > 0) updateRoute(app, exitedDrain_ms)
      const now = context.clock.monotonic()
      // Leftovers (a dead container) are removed before the next start.
      const removed = runtimeOf(app.spec)
        .stop(replica.id, 0)
        .catch((error: unknown) => context.log.warn('leftover_cleanup_failed', { deployment: app.spec.deployment_id, error }))
      if (app.sleep) {
        app.sleep.mode = 'stopped'
        app.sleep.transition = removed
        return
      }
      app.exits++
      app.last_exit_code = exit.code
      app.recentExits = app.recentExits.filter((at) => now - at < limits.restart.within_ms)
      if (now - app.thawed_at > thawGrace_ms) app.recentExits.push(now)
      void removed.then(() => restartApp(app))
    })
  }

  /** Runs one restart at a time; concurrent callers wait for the same restart. */
  const restartApp = (app: SupervisedApp): Promise<void> =>
    (app.restarting ??= attemptRestart(app).finally(() => {
      app.restarting = null
    }))

  const attemptRestart = async (app: SupervisedApp): Promise<void> => {
    const { signal } = app.stopController
    if (signal.aborted) return
    if (app.recentExits.length >= limits.restart.exits) return settleCrash(app)
    updateRoute(app)
    const wait = app.recentExits.length === 0 ? 0 : Math.min(limits.restart.first_ms * 2 ** (app.recentExits.length - 1), limits.restart.max_ms)
    if (!(await context.pause(wait, signal))) return
    let candidate: Candidate | undefined
    try {
      candidate = await launch(app.spec, signal)
      const { observer } = observeOutput(app.spec)
      candidate = await waitUntilServing(candidate, signal, (line) => observer.onLine('stderr', line))
      await services.start(app.spec, 'after_main', signal)
      signal.throwIfAborted()
      app.candidate = candidate
      app.spec = candidate.spec
      updateRoute(app)
      if (candidate.replica) recordState(app.spec, 'running')
      watchExit(app)
      scale(app)
    } catch (error) {
      if (candidate) await stopReplica(candidate).catch(() => {})
      if (signal.aborted) return
      context.log.warn('app_restart_failed', { deployment: app.spec.deployment_id, error })
      // The log of the app tells its owner the reason.
      if (error instanceof Problem || error instanceof StartFailure)
        observeOutput(app.spec).observer.onLine('stderr', `Not started: ${error.message}`)
      const { available } = await runtimeOf(app.spec).probe()
      // An unavailable runtime does not count as a crash; it is tried again soon.
      if (available) app.recentExits = [...app.recentExits, context.clock.monotonic()]
      else if (!(await context.pause(2_000, signal))) return
      return attemptRestart(app)
    }
  }

  const registerApp = (spec: AppSpec, candidate: Candidate | null): SupervisedApp => {
    const app = createSupervisedApp(spec, candidate)
    apps.set(getSlotKey(spec), app)
    watchExit(app)
    return app
  }

  const saveColdState = createColdStateWriter(context, (slot) => Boolean(apps.get(getSlotKey(slot))?.sleep))

  const idle = createIdleMonitor(context, {
    listApps: () => apps.values(),
    updateRoute(app) {
      updateRoute(app)
      scale(app)
    },
    routeAsleep,
    showStartingPage,
    recordState,
    restartApp: (app) => restartApp(app),
    async saveFiles(app) {
      if (losesFilesWithReplica(app.spec)) await inspector.saveBeforeEnd(toInspected(app), null)
    },
    saveColdState,
    services,
  })

  const autoscaler = createAutoscaler(context, () => apps.values())

  /** Stops the replica of an app that stays in its slot; its requests wait. */
  const haltApp = async (app: SupervisedApp): Promise<void> => {
    await app.sleep?.transition
    const { candidate } = app
    app.candidate = null
    if (app.sleep) app.sleep.mode = 'stopped'
    else showStartingPage(app)
    await stopReplica(candidate)
  }

  /** Starts services that are missing next to an app that outlived the platform. */
  const startServices = async (app: SupervisedApp): Promise<void> => {
    const { signal } = app.stopController
    for (const phase of ['before_main', 'after_main'] as const) await services.revive(app.spec, phase, signal)
    scale(app)
  }

  /** Candidates that drain or are being stopped. They have no slot but must not outlive the platform. */
  const draining = new Set<Candidate>()
  const heldImages = new Map<string, AppSpec>()
  let isClosed = false
  const closed = Promise.withResolvers<void>()

  /** A stopped candidate stays stopped: if Docker is unavailable, it is removed when Docker is back, also after a restart. */
  const stopOrScheduleCleanup = (candidate: Candidate): Promise<void> =>
    stopReplica(candidate).catch(async (error: unknown) => {
      const { deployment_id, runtime } = candidate.spec
      context.log.warn('replica_stop_postponed', { deployment: deployment_id, error })
      if (candidate.replica) await context.scheduleCleanup({ kind: 'instance', runtime, instance_id: candidate.replica.id })
    })

  const stopApp = async (app: SupervisedApp, stop = stopOrScheduleCleanup): Promise<void> => {
    app.stopController.abort()
    // A restart in progress is aborted and stops the replica that it started.
    await app.restarting?.catch(() => {})
    const { candidate } = app
    app.candidate = null
    if (!candidate) {
      if (app.sleep) recordState(app.spec, 'stopped')
      return services.stopVersion(app.spec.deployment_id)
    }
    draining.add(candidate)
    await app.sleep?.transition
    await Promise.all([stop(candidate), services.stopVersion(app.spec.deployment_id)]).finally(() => draining.delete(candidate))
  }

  const environments = createEnvironments(context, {
    listApps: () => apps.values(),
    findApp: (spec) => apps.get(getSlotKey(spec)),
    haltApp,
    restartApp,
    appRoutes,
    watchExit,
    wake: (app) => idle.wake(app, 'setting'),
    checkIsolation,
    launch,
    stopCandidate: stopOrScheduleCleanup,
    draining,
    services,
    heldImages,
    logs: runtimeLogs,
  })

  return {
    async launch(spec, signal, onOutput) {
      services.claim(spec)
      return launch(spec, signal, onOutput)
    },
    async waitUntilServing(candidate, signal, onNote, onOutput) {
      const ready = await waitUntilServing(candidate, signal, onNote, onOutput)
      await startOthers(ready, signal, onNote, onOutput).catch(async (error: unknown) => {
        if (ready.replica?.id !== candidate.replica?.id) await stopReplica(ready).catch(() => {})
        throw error
      })
      return ready
    },
    async stopCandidate(candidate) {
      await detachCandidate(candidate)
      await stopReplica(candidate)
    },
    ...environments,
    async revertServices(spec) {
      await environments.revertServices(spec)
      restoreReplicas(spec)
    },
    promote(candidate) {
      const slotKey = getSlotKey(candidate.spec)
      const old = apps.get(slotKey)
      if (old) old.isSuperseded = true
      if (old?.replacement) old.replacement.added = []
      const drained = context.routes.setRoute(candidate.spec, createRoute({ spec: candidate.spec, candidate }), limits.drain_ms)
      const app = registerApp(candidate.spec, candidate)
      updateServiceRoutes(app)
      return {
        async commit() {
          old?.stopController.abort()
          if (old?.candidate) draining.add(old.candidate)
          if (candidate.replica) recordState(candidate.spec, 'running')
          await Promise.race([drained, closed.promise])
          if (old && !isClosed) await inspector.saveBeforeEnd(toInspected(old), candidate.spec)
          if (old) await stopApp(old)
          await services.stopUnused(candidate.spec)
        },
        async revert() {
          app.stopController.abort()
          if (old) apps.set(slotKey, old)
          else apps.delete(slotKey)
          // The outcome of the deployment replaces this page.
          if (!old) return context.routes.showPage(candidate.spec, 'building', 0)
          old.isSuperseded = false
          updateRoute(old)
        },
      }
    },
    async stopForFixedPort(spec) {
      const app = apps.get(getSlotKey(spec))
      const listen_port = app?.spec.listen_port ?? null
      if (!app?.candidate?.replica || listen_port === null) return undefined
      await haltApp(app)
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
      if (!existing.frozen) void startServices(app)
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
      void restartApp(app).catch((error: unknown) => context.log.error('app_restart_failed', { deployment: spec.deployment_id, error }))
    },
    wake(projectId, deploymentId) {
      for (const app of apps.values()) if (app.spec.project_id === projectId && app.spec.deployment_id === deploymentId) idle.wake(app, 'request')
    },
    applyProjectSettings(projectId) {
      const app = findProductionApp(projectId)
      if (!app) return
      applyReplicas(app)
      app.always_warm = context.store.db.readSync((tx) => findProject(tx, projectId))?.always_warm === 1
      if (app.always_warm) idle.wake(app, 'setting')
    },
    async stopProject(projectId) {
      const projectApps = [...apps].filter(([, app]) => app.spec.project_id === projectId)
      for (const [slotKey] of projectApps) apps.delete(slotKey)
      saveColdState({ project_id: projectId, target: 'production', branch: null })
      await Promise.all(projectApps.map(([, app]) => stopApp(app)))
      await Promise.all(projectApps.map(([, app]) => services.stopEnvironment(app.spec.environment_id)))
    },
    async stopPreview(projectId, branch) {
      const slotKey = getSlotKey({ project_id: projectId, target: 'preview', branch })
      const app = apps.get(slotKey)
      apps.delete(slotKey)
      if (app) await stopApp(app)
      const environmentId = getEnvironmentId({ project_id: projectId, target: 'preview', branch })
      heldImages.delete(environmentId)
      await services.stopEnvironment(environmentId)
      runtimeLogs.close({ project_id: projectId, target: 'preview', branch })
    },
    async stopAll(names) {
      isClosed = true
      closed.resolve()
      const projectApps = [...apps].filter(([, app]) => names.includes(app.spec.runtime))
      for (const [slotKey] of projectApps) apps.delete(slotKey)
      await Promise.all([
        ...projectApps.map(async ([, app]) => {
          await stopApp(app, (candidate) => stopReplica(candidate, shutdownGrace_ms))
          await services.stopEnvironment(app.spec.environment_id, shutdownGrace_ms)
        }),
        ...[...heldImages.values()].map(
          async ({ runtime, environment_id }) => names.includes(runtime) && services.stopEnvironment(environment_id, shutdownGrace_ms),
        ),
        // The caller that drains a candidate reports its failures.
        ...[...draining].map((candidate) => stopReplica(candidate, 0).catch(() => {})),
      ])
    },
    async inspectFiles(environmentId) {
      const app = [...apps.values()].find(({ spec, candidate, sleep }) => spec.environment_id === environmentId && candidate !== null && !sleep)
      if (app) app.has_unsaved_files = (await inspector.inspect(toInspected(app))) > 0
    },
    findPublicPorts: () => findPublicListeners(apps.values()),
    getUsage: createUsageReader(context, findProductionApp, (app) => services.listReplicas(app.spec, app.spec.main_service)),
    readAllUsage: () => readAllUsage(context, apps.values(), (app, name) => services.listReplicas(app.spec, name)),
    isSupervising: (deploymentId) => [...apps.values()].some((app) => app.spec.deployment_id === deploymentId),
    resync: () => idle.resync(),
    detach() {
      idle.close()
      autoscaler.close()
      services.detach()
      for (const app of apps.values()) app.stopController.abort()
      runtimeLogs.flush()
    },
  }
}
