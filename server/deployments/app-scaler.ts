import { limits } from '../contract/limits.ts'
import { findProject } from '../store/projects.ts'
import { type createAppRoutes, exitedDrain_ms } from './app-routes.ts'
import type { DeploymentContext } from './context.ts'
import { decideReplicas, singleApp } from './service-spec.ts'
import type { ServiceSupervisor } from './service-supervisor.ts'
import { checkFixedPort, isBeyond } from './replica-specs.ts'
import type { OutputListener } from './runtime-logs.ts'
import { createRollingReplacement } from './rolling-replacement.ts'
import type { AppSpec, Candidate, SupervisedApp } from './supervised-app.ts'

/** The replicas of live apps beyond the first: their number, and what their exits mean for the app. */
export function createAppScaler(
  context: DeploymentContext,
  services: ServiceSupervisor,
  appRoutes: ReturnType<typeof createAppRoutes>,
  findLive: (spec: AppSpec) => SupervisedApp | undefined,
) {
  const { createRoute, updateServiceRoutes, countServing, updateRoute } = appRoutes
  const rolling = createRollingReplacement(context, services, appRoutes)

  /** A replica beyond the first, or another service, has started or ended. */
  const onReplicasChanged = (app: SupervisedApp): void => {
    if (app.spec.replicas > 1 && app.spec.artifact && (app.candidate || countServing(app) > 0)) return updateRoute(app, exitedDrain_ms)
    updateServiceRoutes(app)
    if (app.spec.replicas > 1 && !app.candidate && !app.restarting && app.recentExits.length >= limits.restart.exits)
      void settleCrash(app).catch(onScaleError(app))
  }

  /** The first replica keeps exiting. The app has crashed unless another one serves or starts. */
  const settleCrash = async (app: SupervisedApp): Promise<void> => {
    if (services.listReplicas(app.spec, app.spec.main_service).some(({ status }) => status !== 'crashed')) return
    if (!app.isSuperseded) context.routes.showPage(app.spec, 'crashed', exitedDrain_ms)
    if (app.spec.target === 'production') await context.recordCrash(app.spec.project_id, app.spec.deployment_id)
  }

  const onScaleError = (app: SupervisedApp) => (error: unknown) =>
    context.log.error('app_scale_failed', { deployment: app.spec.deployment_id, error })

  /** Starts missing replicas of a live app and removes surplus ones, once their requests have ended. */
  const scaleApp = async (app: SupervisedApp): Promise<void> => {
    if (app.replacement || app.sleep || app.stopController.signal.aborted || !app.candidate?.replica) return
    const { spec } = app
    if (spec.target === 'production') await context.recordRunning(spec.project_id, spec.deployment_id)
    await services.removeReplicas(spec, isBeyond(spec.replicas), () => context.routes.setRoute(spec, createRoute(app), limits.drain_ms))
    await services.reviveReplicas(spec, app.stopController.signal)
  }

  const scale = (app: SupervisedApp): void => void scaleApp(app).catch(onScaleError(app))

  /** Applies the project's number of replicas, unless the configuration file of the version has its own. */
  const applyReplicas = (app: SupervisedApp): void => {
    if (app.replacement) return
    const project = context.store.db.readSync((tx) => findProject(tx, app.spec.project_id))
    if (!project || !app.spec.artifact || app.spec.artifact.kind === 'static') return
    const hasFixedPort = app.candidate?.replica?.is_on_host === true && app.spec.listen_port !== null
    const { max_replicas } = context.store.db.readSync((tx) => context.getPlanLimits(tx, project.account_id))
    const { replicas, autoscaling } = hasFixedPort
      ? { replicas: 1, autoscaling: null }
      : decideReplicas(app.spec.main_config ?? singleApp, app.spec.target, project, max_replicas)
    const sticky_sessions = project.sticky_sessions === 1
    const isChanged = replicas !== app.spec.replicas || sticky_sessions !== app.spec.sticky_sessions
    app.spec = { ...app.spec, replicas, autoscaling, sticky_sessions }
    if (!isChanged) return
    if (!app.sleep) updateRoute(app)
    scale(app)
  }

  /** Starts the other replicas of a version whose first one is ready, and waits until they are healthy. Throws `StartFailure`. */
  const startOthers = async (candidate: Candidate, signal: AbortSignal, onNote: (line: string) => void, onOutput?: OutputListener): Promise<void> => {
    const { spec, replica } = candidate
    if (spec.replicas <= 1 || !replica) return
    checkFixedPort(spec, replica.is_on_host === true)
    const live = findLive(spec)
    const reason = await rolling.findReason(live, candidate)
    if (live && reason !== undefined) {
      onNote(`The replicas are replaced one by one. ${reason}`)
      await rolling.replaceInSteps(live, candidate, { signal, onNote, onOutput }).catch(async (error: unknown) => {
        onNote('The live version keeps the traffic, and its stopped replicas are started again.')
        await rolling.detach(live, spec.deployment_id)
        throw error
      })
      return
    }
    onNote(`Starting ${spec.replicas - 1} more ${spec.replicas === 2 ? 'replica' : 'replicas'}.`)
    let ready = 1
    await services.startReplicas(spec, signal, {
      onOutput,
      onReady: ({ replica: one }) =>
        onNote(`${++ready} of ${spec.replicas} replicas ready${one?.node === undefined ? '' : `, the last one on ${one.node}`}.`),
    })
  }

  /** Takes the replicas of a failed candidate out of the traffic. */
  const detachCandidate = ({ spec }: Candidate): Promise<void> => rolling.detach(findLive(spec), spec.deployment_id)

  /** Starts the replicas of the live version that a failed one has replaced, once its own are stopped. */
  const restoreReplicas = (failed: AppSpec): void => {
    const live = findLive(failed)
    if (!rolling.finish(live, failed.deployment_id)) return
    applyReplicas(live)
    scale(live)
  }

  return { detachCandidate, restoreReplicas, onReplicasChanged, settleCrash, scale, applyReplicas, startOthers }
}
