import { limits } from '../contract/limits.ts'
import type { Route } from '../edge/edge.ts'
import type { DeploymentContext } from './context.ts'
import { StartFailure } from '../runtime/runtime.ts'
import { createReplicaMover, type ReplicaMoverHooks } from './move-replicas.ts'
import { runTask, startAttachedTask } from './run-task.ts'
import { waitUntilReady } from './readiness.ts'
import type { AppSpec, Candidate, SupervisedApp } from './supervised-app.ts'
import type { SupervisedService } from './supervised-service.ts'
import type { Supervisor } from './supervisor.ts'

/** The functions of the supervisor that its part for environments needs. */
export interface EnvironmentHooks extends ReplicaMoverHooks {
  findApp(spec: AppSpec): SupervisedApp | undefined
  restartApp(app: SupervisedApp): Promise<void>
  wake(app: SupervisedApp): void
  checkIsolation(spec: AppSpec): Promise<void>
  /** The version whose prebuilt images run although nothing of it is live, by environment. */
  heldImages: Map<string, AppSpec>
}

type EnvironmentPart = Pick<
  Supervisor,
  | 'runTask'
  | 'moveReplicas'
  | 'finishServices'
  | 'revertServices'
  | 'adoptServices'
  | 'findEnvironment'
  | 'restartService'
  | 'runCron'
  | 'wakeService'
  | 'wakeEnvironment'
  | 'startAttached'
  | 'startBeside'
  | 'stopBeside'
  | 'freezeWhile'
  | 'stopWhile'
  | 'holdLive'
  | 'holdImages'
  | 'releaseImages'
  | 'isHoldingImages'
>

const wakeInterval_ms = 50

/** The supervisor's functions for services other than the main one, and for an environment as a whole. */
export function createEnvironments(context: DeploymentContext, hooks: EnvironmentHooks): EnvironmentPart {
  const { listApps, findApp, haltApp, restartApp, appRoutes, wake, checkIsolation, services, logs, heldImages, draining } = hooks

  const listStarted = (spec: AppSpec): Map<string, SupervisedService> =>
    new Map(
      spec.services.flatMap(({ config: { name } }): [string, SupervisedService][] => {
        const service = services.find(spec, name)
        return service ? [[name, service]] : []
      }),
    )

  const describe = (spec: AppSpec) => ({
    spec,
    main: spec.main_config && { config: spec.main_config },
    release: spec.release,
    services: listStarted(spec),
    listReplicas: (name: string | null) => services.listReplicas(spec, name),
  })

  const releaseImages = async (environmentId: string): Promise<void> => {
    const spec = heldImages.get(environmentId)
    heldImages.delete(environmentId)
    if (spec && !findApp(spec)) await services.stopImages(spec)
  }

  const wakeApp = async (spec: AppSpec, signal: AbortSignal): Promise<void> => {
    const app = findApp(spec)
    if (app?.sleep) wake(app)
    while (app?.sleep && (await context.pause(wakeInterval_ms, signal)));
    signal.throwIfAborted()
  }

  const stopCandidate = (candidate: Candidate): Promise<void> => hooks.stopCandidate(candidate).finally(() => draining.delete(candidate))

  return {
    moveReplicas: createReplicaMover(context, hooks),
    async runTask(spec, task, onLine, signal) {
      await checkIsolation(spec)
      services.claim(spec)
      await services.start(spec, 'images', signal, onLine)
      return runTask(context, spec, task, onLine, services.getAddresses(spec), signal)
    },
    async finishServices(spec, signal, onOutput) {
      await services.start(spec, 'after_main', signal, onOutput)
      await services.waitUntilSettled(spec, signal)
    },
    async revertServices(spec) {
      const live = findApp(spec)
      const held = heldImages.get(spec.environment_id)
      const successor = live?.spec ?? held
      if (successor) services.claim(successor)
      await services.stopVersion(spec.deployment_id, 0)
      if (!live && held) {
        await services.stopUnused(held)
        return services.revive(held, 'images', new AbortController().signal)
      }
      if (!live) return services.stopEnvironment(spec.environment_id)
      await services.stopUnused(live.spec)
      const { sleep } = live
      if (!sleep || sleep.isWaking) return services.revive(live.spec, 'images', live.stopController.signal)
      // Images shared with the failed version sleep again; missing ones start when the environment wakes.
      const sleepAgain = () => (sleep.mode === 'frozen' ? services.freezeOwn(live.spec) : services.stop(live.spec))
      sleep.transition = sleep.transition
        .then(sleepAgain)
        .catch((error: unknown) => context.log.warn('services_sleep_failed', { deployment: live.spec.deployment_id, error }))
      await sleep.transition
    },
    adoptServices: (spec, existing) => services.adopt(spec, existing),
    findEnvironment(environmentId) {
      const app = [...listApps()].find(({ spec }) => spec.environment_id === environmentId)
      if (!app) return undefined
      return {
        ...describe(app.spec),
        is_main_running: app.candidate !== null,
        main_replica: app.candidate?.replica ?? null,
        main_exits: app.exits,
        main_last_exit_code: app.last_exit_code,
        is_asleep: app.sleep !== null,
      }
    },
    async holdImages(spec, signal) {
      await checkIsolation(spec)
      const existing = heldImages.get(spec.environment_id)
      const held = existing ?? spec
      heldImages.set(spec.environment_id, held)
      // A preview that is being deployed starts its images itself.
      if (!services.isClaimed(spec.environment_id)) services.claim(held)
      try {
        await services.start(held, 'images', signal)
      } catch (error) {
        if (!existing) await releaseImages(spec.environment_id)
        throw error
      }
      return { ...describe(held), is_main_running: false, main_replica: null, main_exits: 0, main_last_exit_code: null, is_asleep: false }
    },
    releaseImages,
    isHoldingImages: (environmentId) => heldImages.has(environmentId),
    async freezeWhile(spec, work) {
      const app = findApp(spec)
      const id = app?.candidate?.replica?.id
      if (!app || app.sleep) return work()
      try {
        await Promise.all([id === undefined ? undefined : context.runtime(spec.runtime).freeze(id), services.freeze(app.spec)])
        return await work()
      } finally {
        await services.thaw(app.spec)
        if (id !== undefined) await context.runtime(spec.runtime).thaw(id)
      }
    },
    async stopWhile(spec, work) {
      const app = findApp(spec)
      if (!app) return work()
      await haltApp(app)
      await services.stopVersion(app.spec.deployment_id)
      await services.stopEnvironment(app.spec.environment_id)
      try {
        return await work()
      } finally {
        if (!app.sleep) void restartApp(app)
      }
    },
    async holdLive(spec) {
      const app = findApp(spec)
      if (!app) return undefined
      await app.restarting?.catch(() => {})
      while (app.sleep?.isWaking && (await context.pause(wakeInterval_ms, app.stopController.signal)));
      await app.sleep?.transition
      const runtime = context.runtime(app.spec.runtime)
      const { candidate, sleep } = app
      const id = candidate?.replica?.id
      // Requests in progress end, and others wait for the route of the next version.
      app.isSuperseded = true
      const page: Route = { ...context.routes.getRouteMetadata(app.spec), kind: 'page', page: 'starting' }
      await context.routes.setRoute(app.spec, page, limits.drain_ms)
      if (!sleep) {
        if (id !== undefined) await runtime.freeze(id)
        await services.freeze(app.spec)
      }
      return {
        spec: app.spec,
        findReplica: (name) => (name === (app.spec.main_service ?? '') ? id : services.find(app.spec, name)?.replica?.id) ?? null,
        async resume() {
          app.isSuperseded = false
          if (!sleep) {
            await services.thaw(app.spec)
            if (id !== undefined && app.candidate === candidate) await runtime.thaw(id)
          }
          appRoutes.updateRoute(app)
        },
      }
    },
    async restartService(spec, name) {
      await checkIsolation(spec)
      await services.restart(spec, name)
    },
    async startAttached(spec, task, signal) {
      await checkIsolation(spec)
      // Without other services a command needs nothing that sleeps.
      if (spec.services.length > 0) await wakeApp(spec, signal)
      return startAttachedTask(context, spec, task, services.getAddresses(spec), signal)
    },
    async startBeside(live, spec, signal) {
      const app = findApp(live)
      const anySignal = app ? AbortSignal.any([signal, app.stopController.signal]) : signal
      if (live.services.length > 0) await wakeApp(live, anySignal)
      const launch = async (own: AppSpec) => {
        const candidate = await hooks.launch(own, anySignal)
        draining.add(candidate)
        return candidate
      }
      const candidate = await launch({ ...spec, variables: { ...spec.variables, ...services.getAddresses(live) } })
      try {
        const ready = await waitUntilReady(context, candidate, anySignal, () => {}, { launch, stopCandidate })
        draining.add(ready)
        app?.stopController.signal.addEventListener('abort', () => void stopCandidate(ready), { once: true })
        return ready
      } catch (error) {
        await stopCandidate(candidate)
        throw error
      }
    },
    stopBeside: stopCandidate,
    wakeEnvironment: wakeApp,
    async wakeService(spec, name, signal) {
      await wakeApp(spec, signal)
      const id = services.find(spec, name)?.replica?.id
      if (id === undefined) throw new StartFailure('start_failed', `The service “${name}” is not running.`, 'Start the project, then try again.')
      return id
    },
    async runCron(spec, service, signal) {
      await checkIsolation(spec)
      await wakeApp(spec, signal)
      const { observer, exited: _ } = logs.observeOutput(spec, undefined, service.config.name)
      logs.recordState(spec, 'starting', null, service.config.name)
      const task = { name: service.config.name, service: service.config.name, command: null }
      const exit = await runTask(context, spec, task, observer.onLine, services.getAddresses(spec), signal)
      logs.recordState(spec, exit.out_of_memory ? 'oom' : 'exited', exit.code, service.config.name)
      return exit
    },
  }
}
