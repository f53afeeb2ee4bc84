import type { SourceKind } from '../contract/deployments.ts'
import type { RollbackPlan } from '../contract/rollbacks.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import { Problem } from '../contract/errors.ts'
import type { StreamEvent } from '../contract/operation.ts'
import type { StatusPage } from '../edge/edge.ts'
import { newId } from '../lib/id.ts'
import { createBackgroundJobs } from '../lib/background-jobs.ts'
import { isoTime, sleep } from '../lib/clock.ts'
import {
  findDeploymentById,
  insertCleanup,
  listCurrentDeployments,
  listOpenDeployments,
  compareAndSwapStatus,
  updateDeployment,
  listDeploymentsOfProject,
} from '../store/deployments.ts'
import { listProjectIdsWithHostnames, deleteDomainsOfProject } from '../store/domains.ts'
import type { Tx } from '../store/store.ts'
import { findProject, updateProject } from '../store/projects.ts'
import type { DeploymentRow, ProjectRow } from '../store/tables.ts'
import { listOpenPreviews, deletePreview } from '../store/previews.ts'
import { deleteTokensOfProject } from '../store/tokens.ts'
import { getEnvironmentId } from './supervised-app.ts'
import { createSupervisor } from './create-supervisor.ts'
import { createCronScheduler } from './cron.ts'
import { createDevSessions, type DevSessions } from './dev-sessions.ts'
import { createForks, type Forks } from './forks.ts'
import { createOneOffCommands, type OneOffCommands } from './one-off-commands.ts'
import { createProjectServices, type ProjectServices } from './project-services.ts'
import { createProjectVolumes, type ProjectVolumes } from './project-volumes.ts'
import { deleteArchive, storeArchive, deleteOrphanedArchives } from './source-archives.ts'
import { followBuildLog, followRuntimeLog } from './log-streams.ts'
import { endDeployment, endServing, recordCrash, recordRunning, recordServiceCrash } from './outcome.ts'
import { type EnqueueRequest, linkedRepository } from './deployment-row.ts'
import { requireIsolation } from './isolation.ts'
import { createSourceExporter } from './source-export.ts'
import { closePreviewRows, type BranchPush, decidePush, type PushDecision } from './previews.ts'
import { type ResourcesInUse, readResourcesInUse } from './retention.ts'
import { pruneAllProjects, runCleanups } from './cleanup.ts'
import type { CleanupTask } from './cleanup-task.ts'
import { recoverInterrupted, recoverWhenAvailable } from './recovery.ts'
import { insertQueuedDeployment } from './insert-queued-deployment.ts'
import { createProjectRoutes } from './project-routes.ts'
import { createQuarantine, type Quarantine } from './quarantine.ts'
import { planRollback } from './rollback-plan.ts'
import { isTerminal } from './status-transitions.ts'
import type { Supervisor } from './supervisor.ts'
import { startTemporaryVersion, type TemporaryVersion } from './temporary-versions.ts'
import { createDeploymentQueue } from './queue.ts'
import type { DeploymentContext, DeploymentServiceOptions } from './context.ts'

export { type EnqueueRequest, linkedRepository } from './deployment-row.ts'
export type { OpenDevSession } from './dev-sessions.ts'
export type { ForkData } from './forks.ts'
export type { SourcePlanner, SourcePlanRequest } from './source-planner.ts'
export type { CommandRequest, RunningCommand } from './one-off-commands.ts'

/** The interface of this folder. Every operation that creates, changes or follows a deployment uses it. */
export interface DeploymentService extends Pick<Supervisor, 'getUsage' | 'readAllUsage' | 'moveReplicas'> {
  /** Inserts a `queued` deployment and notifies the queue; returns its id. */
  enqueue(request: EnqueueRequest): Promise<{ deployment_id: string; source: SourceKind }>
  /** `select` runs in the same transaction, and its result is returned. */
  enqueue<T>(request: EnqueueRequest, select: (tx: Tx, deploymentId: string) => T): Promise<{ deployment_id: string; source: SourceKind; result: T }>
  /** Enqueues in the caller's transaction, whose commit notifies the queue. */
  enqueueInTransaction(tx: Tx, request: Omit<EnqueueRequest, 'archive'>): string

  /** Throws `runtime_not_isolated` where `enqueue` would, for requests that must be rejected before any other work. */
  requireIsolation(tx: Tx, project: ProjectRow): void

  /** Workers, prebuilt images and cron services. */
  services: ProjectServices

  /** Replicas that the database does not know. */
  quarantine: Pick<Quarantine, 'list' | 'stopAll'>
  volumes: ProjectVolumes
  /** Copies of production's data for branches. */
  forks: Forks

  /** Development servers behind the addresses of projects. */
  devSessions: DevSessions
  commands: OneOffCommands

  /** See `startTemporaryVersion` in `temporary-versions.ts`. */
  startTemporaryVersion(deployment: DeploymentRow, signal: AbortSignal): Promise<TemporaryVersion>

  /** Handles a commit found on a branch: it is deployed if the settings allow it and no manual deployment has deployed it. */
  handlePush(handlePush: BranchPush): Promise<PushDecision>

  /** Removes the preview of a branch from the edge immediately, and frees its resources. */
  closePreview(projectId: string, branch: string): Promise<void>

  /** What a rollback to this deployment would do. */
  planRollback(deployment: DeploymentRow): Promise<RollbackPlan>

  /** Stops the running work and frees the slot. Returns `terminal` when the deployment had ended already. */
  cancel(deploymentId: string): Promise<'canceled' | 'terminal'>

  /** Stops apps and routes, cancels running deployments and sets the project `inactive`. Can be repeated. */
  stopProject(projectId: string): Promise<void>

  /** When this resolves, no host routes to the project and its row is a tombstone; durable clean-up tasks remove the rest. */
  removeProject(projectId: string): Promise<void>

  /** A .tar.gz stream of the deployment's source; throws `source_not_found`. Stops on `signal`. */
  exportSource(deploymentId: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>

  /** The build log as events: status, all history, live lines, terminal status, end. Pull-driven; stops on `signal`. */
  followBuildLog(deploymentId: string, options: { last_event_id: string | undefined; signal: AbortSignal }): AsyncIterable<StreamEvent>

  /**
   * The runtime log of production or of a branch's preview: the last `lines`, then live lines, across restarts and new deployments. Pull-driven;
   * stops on `signal`.
   */
  followRuntimeLog(
    projectId: string,
    options: { branch: string | undefined; lines: number; last_event_id: string | undefined; json: boolean; signal: AbortSignal },
  ): AsyncIterable<StreamEvent>

  /** Wakes a sleeping app because a request arrived. */
  wakeApp(projectId: string, deploymentId: string): void

  /** The status page of a host without an app, for the edge; undefined when no project has this host. */
  getStatusPage(host: string): StatusPage | undefined

  /**
   * Apps that run as processes of this machine, by name, with the ports besides loopback on which they listen; undefined when the system does not
   * report them.
   */
  findPublicPorts(): Promise<{ name: string; ports: number[] | undefined }[]>

  /** Applies changed custom domains: verified domains get routes, others lose theirs. */
  refreshHosts(projectId: string): void

  /** Resumes the work of the previous run: the queue immediately, apps as soon as their runtime is available. */
  start(): Promise<void>

  /** Resolves once the apps of a runtime that survived the previous run are supervised, maybe never. */
  whenRecovered(runtime: RuntimeName): Promise<void>

  /** Checks all live apps after the machine slept or Docker came back. */
  resync(): void

  /** Resources in use; all others may be removed. `includeUnpruned`: includes builds that `prune` would remove but has not removed yet. */
  getResourcesInUse(includeUnpruned?: boolean): Promise<ResourcesInUse>

  /** Removes builds and sources of all projects beyond the number to keep. */
  prune(): Promise<void>

  /** Requeues running deployments and closes the service. Apps of these runtimes are stopped, too. */
  close(stopProject: readonly RuntimeName[]): Promise<void>
}

const cleanupRetry_ms = 10_000
export function createDeploymentService(options: DeploymentServiceOptions): DeploymentService {
  const { store, events, clock, log } = options
  const shutdown = new AbortController()
  const runtimeNames = Object.keys(options.runtimes) as RuntimeName[]
  const routes = createProjectRoutes({ ...options, db: store.db, onError: (error) => log.warn('route_failed', { error }) })
  const now = () => isoTime(clock.now())

  const context: DeploymentContext = {
    ...options,
    routes,
    jobs: createBackgroundJobs(log),
    environmentsInUse: new Map(),
    dataChanges: new Map(),
    environmentsWithCommands: new Map(),
    runtime: (name) => options.runtimes[name],
    runtimeNames,
    recordRunning: async (projectId, deploymentId) => {
      if (store.db.readSync((tx) => findProject(tx, projectId))?.crashed_at != null)
        await store.db.write((tx) => recordRunning(tx, projectId, deploymentId, now()))
    },
    recordCrash: (projectId, deploymentId) => store.db.write((tx) => recordCrash(tx, projectId, deploymentId, now())),
    recordServiceCrash: (projectId, ownerId, service) => store.db.write((tx) => recordServiceCrash(tx, projectId, { ownerId, service }, now())),
    scheduleCleanup: (task) => store.db.write((tx) => insertCleanup(tx, task, now())).then(runDueCleanups),
    pause: (ms, signal) =>
      sleep(clock, ms, signal).then(
        () => true,
        () => false,
      ),
  }
  const logStreamContext = { db: store.db, logs: store.logs, events, clock }
  const supervisor = createSupervisor(context)
  const quarantine = createQuarantine(context)
  const sourceExporter = createSourceExporter(context)
  /** Runtimes on which leftovers of the previous run have been removed. */
  const recoveredRuntimes = new Set<RuntimeName>()
  const recoveries = new Map(runtimeNames.map((name) => [name, Promise.withResolvers<void>()]))
  const cron = createCronScheduler(context, supervisor)
  const services = createProjectServices(context, supervisor, cron, logStreamContext)
  const devSessions = createDevSessions(context, supervisor)
  const volumes = createProjectVolumes(context, supervisor)
  const commands = createOneOffCommands(context, supervisor)
  const queue = createDeploymentQueue(context, supervisor, () => [...recoveredRuntimes])
  const unsubscribe = events.subscribe((event) => {
    if (event.type === 'deployment_queued') queue.notify()
    if (event.type === 'cleanup_due') runDueCleanups()
    if (event.type !== 'project_changed') return
    routes.refreshProject(event.id)
    supervisor.applyProjectSettings(event.id)
    cron.refresh(event.id)
  })

  /** Cancels open deployments and removes all traffic. A deployment that started in between is canceled too. */
  const stopServing = async (projectId: string): Promise<DeploymentRow[]> => {
    for (;;) {
      for (const row of await store.db.read((tx) => listOpenDeployments(tx, projectId))) await cancel(row.id)
      const ended = await store.db.write((tx) => endServing(tx, projectId, now()))
      if (ended) return ended
    }
  }

  const cancel = async (deploymentId: string): Promise<'canceled' | 'terminal'> => {
    // The row ends a moment before its worker does; a canceled deployment is not canceled again.
    const before = await store.db.read((tx) => findDeploymentById(tx, deploymentId))
    if (!before || isTerminal(before.status)) return 'terminal'
    if (await queue.stopDeployment(deploymentId, 'canceled')) {
      const row = await store.db.read((tx) => findDeploymentById(tx, deploymentId))
      return row?.status === 'canceled' ? 'canceled' : 'terminal'
    }
    const done = await endDeployment(context, deploymentId, 'canceled', null)
    if (done) queue.notify()
    return done ? 'canceled' : 'terminal'
  }

  /** One after the other; failed tasks are retried while the platform runs. */
  let cleanupsDone: Promise<void> = Promise.resolve()
  /** Removed projects whose apps are being stopped. */
  const stoppingProjects = new Set<string>()
  const runDueCleanups = (): void => {
    cleanupsDone = cleanupsDone.then(async () => {
      while (!shutdown.signal.aborted && (await runCleanups(context, (id) => stoppingProjects.has(id))) > 0)
        if (!(await context.pause(cleanupRetry_ms, shutdown.signal))) return
    })
    cleanupsDone.catch((error: unknown) => log.warn('cleanup_postponed', { error }))
  }

  const insertQueued = (tx: Tx, request: EnqueueRequest, id: string) =>
    insertQueuedDeployment(tx, request, { id, runtime: options.default_runtime, now: now() })

  return {
    services,
    volumes,
    quarantine,
    devSessions,
    forks: createForks(context, supervisor, (tx, request) => insertQueued(tx, request, newId('dpl')).id),
    commands,
    startTemporaryVersion: (deployment, signal) => startTemporaryVersion(context, supervisor, deployment, signal),

    async handlePush(push) {
      const { project_id, branch, commit_sha } = push
      return store.db.write((tx) => {
        const decision = decidePush(tx, push)
        const project = findProject(tx, project_id)
        if (decision.kind === 'deploy' && project)
          insertQueued(tx, { project_id, trigger: 'push', source: linkedRepository(project, { branch, commit_sha }) }, newId('dpl'))
        return decision
      })
    },

    async closePreview(projectId, branch) {
      const closing = await store.db.write((tx) => closePreviewRows(tx, projectId, branch, clock.now()))
      if (!closing) return
      const { closed, cleanup } = closing
      routes.removePreview(projectId, branch, cleanup.host)
      await Promise.all(closed.map((id) => queue.stopDeployment(id, 'canceled')))
      commands.endProject(projectId, branch)
      await supervisor.stopPreview(projectId, branch)
      runDueCleanups()
    },

    async enqueue<T>(request: EnqueueRequest, select?: (tx: Tx, deploymentId: string) => T) {
      const id = newId('dpl')
      const { archive } = request
      if (archive) await storeArchive(options.data_dir, request.project_id, id, archive.file)
      const { row, result } = await store.db
        .write((tx) => ({ row: insertQueued(tx, request, id), result: select?.(tx, id) as T }))
        .catch(async (error: unknown) => {
          if (archive) await deleteArchive(options.data_dir, request.project_id, id)
          throw error
        })
      return { deployment_id: row.id, source: row.source, result }
    },

    enqueueInTransaction: (tx, request) => insertQueued(tx, request, newId('dpl')).id,

    requireIsolation: (tx, project) => requireIsolation(tx, project, options.default_runtime),

    planRollback: (deployment) => planRollback(context, deployment, options.default_runtime),

    cancel,

    async stopProject(projectId) {
      devSessions.endProject(projectId)
      commands.endProject(projectId)
      await stopServing(projectId)
      await supervisor.stopProject(projectId)
    },

    async removeProject(projectId) {
      devSessions.endProject(projectId)
      commands.endProject(projectId)
      stoppingProjects.add(projectId)
      await store.db.write((tx) => {
        const rows = [...listOpenDeployments(tx, projectId), ...listCurrentDeployments(tx, projectId)]
        for (const row of rows) {
          if (!isTerminal(row.status)) compareAndSwapStatus(tx, row.id, [row.status], 'canceled', { finished_at: now() })
          updateDeployment(tx, row.id, { is_current: 0 })
        }
        updateProject(tx, projectId, { deleted_at: now() })
        deleteDomainsOfProject(tx, projectId)
        deleteTokensOfProject(tx, projectId)
        for (const preview of listOpenPreviews(tx, projectId)) deletePreview(tx, projectId, preview.branch)
        insertCleanup(tx, { kind: 'project', project_id: projectId } satisfies CleanupTask, now())
        tx.publish({ type: 'project_changed', id: projectId })
      })
      context.jobs.start('remove_project', { project: projectId }, async () => {
        try {
          const rows = await store.db.read((tx) => listDeploymentsOfProject(tx, projectId))
          await Promise.all(rows.map((row) => queue.stopDeployment(row.id, 'canceled')))
          await supervisor.stopProject(projectId)
        } finally {
          stoppingProjects.delete(projectId)
          runDueCleanups()
        }
      })
    },

    wakeApp(projectId, deploymentId) {
      if (!shutdown.signal.aborted) supervisor.wake(projectId, deploymentId)
    },

    getStatusPage: (host) => routes.getStatusPage(host),
    getUsage: supervisor.getUsage,
    readAllUsage: supervisor.readAllUsage,
    moveReplicas: supervisor.moveReplicas,
    async findPublicPorts() {
      const found = await supervisor.findPublicPorts()
      const slugOf = (id: string) => store.db.readSync((tx) => findProject(tx, id))?.slug ?? id
      return found.map(({ project_id, branch, ports }) => ({ name: `${slugOf(project_id)}${branch === null ? '' : ` (${branch})`}`, ports }))
    },

    async exportSource(deploymentId, signal) {
      const row = await store.db.read((tx) => findDeploymentById(tx, deploymentId))
      if (!row) throw new Problem('deployment_not_found', 'The deployment was deleted in the meantime.')
      return sourceExporter.exportSource(row, signal)
    },

    followBuildLog: (deploymentId, more) => followBuildLog(logStreamContext, deploymentId, more),
    followRuntimeLog(project_id, { branch = null, ...more }) {
      const stream = getEnvironmentId({ project_id, target: branch === null ? 'production' : 'preview', branch })
      return followRuntimeLog(logStreamContext, stream, more)
    },

    refreshHosts: (projectId) => routes.refreshHosts(projectId),

    async start() {
      for (const id of await store.db.read(listProjectIdsWithHostnames)) routes.refreshHosts(id)
      await recoverInterrupted(context)
      await cron.recover()
      await deleteOrphanedArchives(context)
      await Promise.all([sourceExporter.deleteLeftovers(), volumes.deleteLeftovers()])
      for (const name of runtimeNames)
        void recoverWhenAvailable(context, supervisor, quarantine, name, shutdown.signal).then((isRecovered) => {
          if (!isRecovered) return
          recoveredRuntimes.add(name)
          recoveries.get(name)?.resolve()
          queue.notify()
        })
      runDueCleanups()
    },

    getResourcesInUse: async (includeUnpruned = false) => readResourcesInUse(context, includeUnpruned, await quarantine.list()),
    prune: () => pruneAllProjects(context),

    whenRecovered: async (name) => recoveries.get(name)?.promise,

    resync() {
      supervisor.resync()
      queue.notify()
      runDueCleanups()
    },

    async close(stop) {
      shutdown.abort()
      unsubscribe()
      await Promise.all([queue.close(), cron.close(), volumes.close(), commands.close(), cleanupsDone.catch(() => {})])
      await supervisor.stopAll(stop)
      await context.jobs.close()
      supervisor.detach()
      await Promise.all(runtimeNames.map((name) => context.runtime(name).close()))
    },
  }
}
