import type { RuntimeName, SourceKind } from '../contract/deployments.ts'
import { Problem } from '../contract/errors.ts'
import type { StreamEvent } from '../contract/operation.ts'
import type { Page } from '../edge/edge.ts'
import { newId } from '../lib/id.ts'
import { isoTime, sleep } from '../lib/clock.ts'
import {
  findDeploymentById,
  findQueuedOf,
  insertCleanup,
  insertDeployment,
  listCurrent,
  listOpenOf,
  swapStatus,
  closeSteps,
  updateDeployment,
} from '../store/deployments.ts'
import { listProjectsWithHostnames, removeDomainsOf } from '../store/domains.ts'
import type { Tx } from '../store/open.ts'
import { findProject, settleProjectStatus, updateProject } from '../store/projects.ts'
import type { ProjectRow } from '../store/tables.ts'
import { forgetPreviewed, listOpenPreviews, openPreview, removePreview } from '../store/previews.ts'
import { logOf } from './app.ts'
import { createApps } from './apps.ts'
import { dropBundle, keepBundle, sweepBundles } from './bundles.ts'
import { followBuild, followRuntime } from './follow.ts'
import { announce, endDeployment } from './job.ts'
import { newDeployment, type EnqueueRequest } from './new-deployment.ts'
import { requireIsolation } from './isolation.ts'
import { createOutgoing } from './outgoing.ts'
import { closeRows, type Push, receive, type Reception } from './previews.ts'
import { type Needs, readNeeds } from './keep.ts'
import { type Cleanup, clearAttempts, pruneAll, reap } from './reaper.ts'
import { recoverApps, recoverQueue } from './recover.ts'
import { createRoutes } from './routes.ts'
import type { SourceRef } from './run.ts'
import { isTerminal, steps } from './states.ts'
import type { AppUsage } from './usage.ts'
import { createWorker } from './worker.ts'
import type { YardDeps, YardOptions } from './yard.ts'

export type { EnqueueRequest } from './new-deployment.ts'

/** The one door of the yard. Everything that makes, changes or follows a deployment comes through here. */
export interface Engine {
  /** Inserts a `queued` deployment and rings the worker; returns its id. */
  enqueue(request: EnqueueRequest): Promise<{ deployment_id: string; source: SourceKind }>
  /** `show` is called in the same transaction, and its result is handed back. */
  enqueue<T>(request: EnqueueRequest, show: (tx: Tx, deploymentId: string) => T): Promise<{ deployment_id: string; source: SourceKind; shown: T }>
  /** The same in a transaction of the caller's, who calls `begin` once it is committed. */
  enqueueWithin(tx: Tx, request: EnqueueRequest & { source: { kind: 'same_as' } }): { deployment_id: string; begin(): void }

  /** Throws `runtime_not_isolated` where `enqueue` would, for what must be refused before it has begun. */
  requireIsolation(tx: Tx, project: ProjectRow): void

  /** A commit was found on a branch: it is deployed where that is wanted, and was not done by hand meanwhile. */
  push(push: Push): Promise<Reception>

  /** Takes the preview of a branch off the edge at once, and frees all that it had. */
  closePreview(projectId: string, branch: string): Promise<void>

  /** Stops the real work and frees the slot. `terminal`: it had ended already. */
  cancel(deploymentId: string): Promise<'canceled' | 'terminal'>

  /** Runtime and routing down, in-flight deployments canceled, the project `inactive`. May be repeated. */
  stop(projectId: string): Promise<void>

  /** Nothing routes and the row is a tombstone when this resolves; the rest is cleaned up durably behind it. */
  remove(projectId: string): Promise<void>

  /** A .tar.gz of exactly what a deployment was built from; throws `source_not_found`. It is made as it is read; stops on `signal`. */
  readSource(deploymentId: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>

  /** The build log as events: status, all history, live lines, terminal status, end. Pull-driven; stops on `signal`. */
  followBuild(deploymentId: string, options: { last_event_id: string | undefined; signal: AbortSignal }): AsyncIterable<StreamEvent>

  /** The runtime log of production, or of the preview of a branch: the last `lines`, then live, over restarts and new deployments. Pull-driven; stops on `signal`. */
  followRuntime(
    projectId: string,
    options: { branch: string | undefined; lines: number; last_event_id: string | undefined; json: boolean; signal: AbortSignal },
  ): AsyncIterable<StreamEvent>

  /** Somebody asked for an app that sleeps: it is woken. */
  wake(projectId: string, deploymentId: string): void

  /** The page of a name that nothing serves by now, for the edge; undefined: there is no such project. */
  pageOf(host: string): Page | undefined

  /** What the app that serves a project uses now; null when nothing runs: static, asleep, stopped. */
  usage(projectId: string): Promise<AppUsage | null>

  /** By name, what runs as a process of this machine and where it listens besides loopback; undefined: the system does not tell. */
  listening(): Promise<{ name: string; ports: number[] | undefined }[]>

  /** The hostnames of a project have changed: those that are verified route from now on, and no others. */
  refreshHosts(projectId: string): void

  /** Takes up what the last run left: the queue at once, the apps as soon as their engine answers. */
  start(): Promise<void>

  /** The machine slept, or the engine came back: looks at what serves anew. */
  resync(): void

  /** What is needed of all that builds and failures leave, the rest may go. `named`: with the builds that `prune` would let go, but has not. */
  needs(named?: boolean): Promise<Needs>

  /** Lets go of builds and sources past the number to keep, of all projects. */
  prune(): Promise<void>

  /** Parks what is running and ends. `stop`: the runtimes whose apps are stopped, too. */
  close(stop: readonly RuntimeName[]): Promise<void>
}

const engineRetry_ms = 2_000
const reapRetry_ms = 10_000

export function createEngine(options: YardOptions): Engine {
  const { store, bus, clock, log } = options
  const ended = new AbortController()
  const names = Object.keys(options.runtimes) as RuntimeName[]
  const routes = createRoutes({ ...options, db: store.db, onError: (error) => log.warn('route_failed', { error }) })
  const now = () => isoTime(clock.now())

  const deps: YardDeps = {
    ...options,
    routes,
    runtime: (name) => options.runtimes[name],
    crashed: async (projectId, deploymentId) => {
      await store.db.write((tx) => {
        if (!listCurrent(tx, projectId).some((row) => row.id === deploymentId)) return
        updateProject(tx, projectId, { crashed_at: now() })
        settleProjectStatus(tx, projectId, now())
      })
      announce(deps, projectId, deploymentId)
    },
    cleanLater: async (work) => {
      await store.db.write((tx) => insertCleanup(tx, work, now()))
      reapDue()
    },
    pause: (ms, signal) =>
      sleep(clock, ms, signal).then(
        () => true,
        () => false,
      ),
  }
  const followed = { db: store.db, logs: store.logs, bus, clock }
  const apps = createApps(deps)
  const outgoing = createOutgoing(deps)
  /** Runtimes that were cleared of what the last run left. */
  const recovered = new Set<RuntimeName>()
  const worker = createWorker(deps, apps, () => [...recovered])
  const offRoutes = bus.onAny((name) => {
    if (name === 'cleanup') reapDue()
    if (!name.startsWith('project:')) return
    const projectId = name.slice('project:'.length)
    routes.refresh(projectId)
    apps.refresh(projectId)
  })

  /** Ends what is in flight of a project, here and in the rows, as canceled. */
  const cancelAll = async (projectId: string): Promise<void> => {
    for (const row of await store.db.read((tx) => listOpenOf(tx, projectId))) await cancel(row.id)
  }

  /** Cancels what is under way and takes all traffic away. A deployment that began in between is canceled too. */
  const endAll = async (projectId: string): Promise<ReturnType<typeof listCurrent>> => {
    for (;;) {
      await cancelAll(projectId)
      const ended = await store.db.write((tx) => {
        if (listOpenOf(tx, projectId).length > 0) return undefined
        const rows = listCurrent(tx, projectId)
        for (const row of rows) updateDeployment(tx, row.id, { is_current: 0 })
        forgetPreviewed(tx, projectId)
        updateProject(tx, projectId, { stopped_at: now(), crashed_at: null, port: null, is_cold: 0 })
        settleProjectStatus(tx, projectId, now())
        return rows
      })
      if (ended) return ended
    }
  }

  const cancel = async (deploymentId: string): Promise<'canceled' | 'terminal'> => {
    // Its row ends a moment before its worker does: what was canceled already is not canceled again.
    const before = await store.db.read((tx) => findDeploymentById(tx, deploymentId))
    if (!before || isTerminal(before.status)) return 'terminal'
    if (await worker.stop(deploymentId, 'canceled')) {
      const row = await store.db.read((tx) => findDeploymentById(tx, deploymentId))
      return row?.status === 'canceled' ? 'canceled' : 'terminal'
    }
    const done = await endDeployment(deps, deploymentId, 'canceled', null)
    if (done) worker.ring()
    return done ? 'canceled' : 'terminal'
  }

  /** One after the other; what could not be done is tried again while the platform runs. */
  let reaping: Promise<void> = Promise.resolve()
  const reapDue = (): void => {
    reaping = reaping.then(async () => {
      while (!ended.signal.aborted && (await reap(deps)) > 0) if (!(await deps.pause(reapRetry_ms, ended.signal))) return
    })
    reaping.catch((error: unknown) => log.warn('cleanup_postponed', { error }))
  }

  /**
   * Apps of one engine come back once it answers; until then their pages say that they are starting. What dead attempts left
   * goes then too, and only after that may it build anything.
   */
  const recoverWhenThere = async (name: RuntimeName): Promise<void> => {
    while (!ended.signal.aborted) {
      try {
        if ((await deps.runtime(name).probe()).available) {
          await recoverApps(deps, apps, name)
          await clearAttempts(deps, name)
          recovered.add(name)
          return worker.ring()
        }
      } catch (error) {
        // The engine may go away in the middle of it.
        log.warn('recovery_postponed', { runtime: name, error })
      }
      if (!(await deps.pause(engineRetry_ms, ended.signal))) return
    }
  }

  /** The row of a new deployment; one that waits for the same place makes way for it. */
  const insert = (tx: Tx, request: EnqueueRequest, id: string) => {
    const project = findProject(tx, request.project_id)
    if (!project) throw new Problem('project_not_found', 'The project was removed meanwhile.')
    const deployment = newDeployment(tx, project, request, { id, runtime: options.default_runtime, now: now() })
    requireIsolation(tx, project, deps.runtime(deployment.runtime), JSON.parse(deployment.source_request) as SourceRef)
    for (const older of findQueuedOf(tx, deployment)) {
      swapStatus(tx, older.id, ['queued'], 'canceled', { finished_at: now() })
      closeSteps(tx, older.id, 'canceled', now())
    }
    insertDeployment(tx, deployment, steps)
    // By its own time, by which the preview knows what it has had.
    if (deployment.target === 'preview') openPreview(tx, project, deployment.branch ?? '', deployment.created_at)
    else updateProject(tx, project.id, { stopped_at: null })
    settleProjectStatus(tx, project.id, now())
    return deployment
  }

  const ring = (row: { id: string; project_id: string }): void => {
    announce(deps, row.project_id, row.id)
    worker.ring()
  }

  return {
    async push(push) {
      const { project_id, branch, commit_sha } = push
      const { reception, row } = await store.db.write((tx) => {
        const found = receive(tx, push)
        if (found.kind !== 'deploy') return { reception: found, row: undefined }
        const request: EnqueueRequest = { project_id, trigger: 'push', source: { kind: 'branch', branch, commit_sha } }
        return { reception: found, row: insert(tx, request, newId('dpl')) }
      })
      if (row) ring(row)
      return reception
    },

    async closePreview(projectId, branch) {
      const closing = await store.db.write((tx) => closeRows(tx, projectId, branch, clock.now()))
      if (!closing) return
      const { closed, cleanup } = closing
      routes.forget(projectId, branch, cleanup.host)
      await Promise.all(closed.map((id) => worker.stop(id, 'canceled')))
      await apps.stopPreview(projectId, branch)
      for (const id of closed) bus.emit(`deployment:${id}`)
      announce(deps, projectId)
      reapDue()
    },

    async enqueue<T>(request: EnqueueRequest, show?: (tx: Tx, deploymentId: string) => T) {
      const id = newId('dpl')
      const { source } = request
      if (source.kind === 'archive') await keepBundle(options.data_dir, request.project_id, id, source.file)
      const { row, shown } = await store.db
        .write((tx) => ({ row: insert(tx, request, id), shown: show?.(tx, id) as T }))
        .catch(async (error: unknown) => {
          if (source.kind === 'archive') await dropBundle(options.data_dir, request.project_id, id)
          throw error
        })
      ring(row)
      return { deployment_id: row.id, source: row.source, shown }
    },

    enqueueWithin(tx, request) {
      const row = insert(tx, request, newId('dpl'))
      return { deployment_id: row.id, begin: () => ring(row) }
    },

    requireIsolation: (tx, project) => requireIsolation(tx, project, deps.runtime(options.default_runtime)),

    cancel,

    async stop(projectId) {
      const current = await endAll(projectId)
      for (const row of current) bus.emit(`deployment:${row.id}`)
      announce(deps, projectId)
      await apps.stopProject(projectId)
    },

    async remove(projectId) {
      await store.db.write((tx) => {
        const rows = [...listOpenOf(tx, projectId), ...listCurrent(tx, projectId)]
        for (const row of rows) {
          if (!isTerminal(row.status)) swapStatus(tx, row.id, [row.status], 'canceled', { finished_at: now() })
          updateDeployment(tx, row.id, { is_current: 0 })
        }
        updateProject(tx, projectId, { deleted_at: now() })
        removeDomainsOf(tx, projectId)
        for (const preview of listOpenPreviews(tx, projectId)) removePreview(tx, projectId, preview.branch)
        insertCleanup(tx, { kind: 'project', project_id: projectId } satisfies Cleanup, now())
      })
      announce(deps, projectId)
      void cancelRunning(projectId)
        .then(() => apps.stopProject(projectId))
        .then(reapDue)
        .catch((error: unknown) => log.warn('cleanup_postponed', { project: projectId, error }))
    },

    wake(projectId, deploymentId) {
      if (!ended.signal.aborted) apps.wake(projectId, deploymentId)
    },

    pageOf: (host) => routes.pageOf(host),
    usage: (projectId) => apps.usage(projectId),
    async listening() {
      const found = await apps.listening()
      const slugOf = (id: string) => store.db.readNow((tx) => findProject(tx, id))?.slug ?? id
      return found.map(({ project_id, branch, ports }) => ({ name: `${slugOf(project_id)}${branch === null ? '' : ` (${branch})`}`, ports }))
    },

    async readSource(deploymentId, signal) {
      const row = await store.db.read((tx) => findDeploymentById(tx, deploymentId))
      if (!row) throw new Problem('deployment_not_found', 'The deployment was removed meanwhile.')
      return outgoing.read(row, signal)
    },

    followBuild: (deploymentId, more) => followBuild(followed, deploymentId, more),
    followRuntime(project_id, { branch = null, ...more }) {
      const stream = logOf({ project_id, target: branch === null ? 'production' : 'preview', branch })
      return followRuntime(followed, stream, more)
    },

    refreshHosts: (projectId) => routes.refreshHosts(projectId),

    async start() {
      for (const id of await store.db.read(listProjectsWithHostnames)) routes.refreshHosts(id)
      await recoverQueue(deps)
      await sweepBundles(deps)
      await outgoing.clear()
      for (const name of names) void recoverWhenThere(name)
      reapDue()
    },

    needs: (named = false) => readNeeds(deps, named),
    prune: () => pruneAll(deps),

    resync() {
      apps.resync()
      worker.ring()
      reapDue()
    },

    async close(stop) {
      ended.abort()
      offRoutes()
      await Promise.all([worker.close(), reaping.catch(() => {})])
      await apps.stopAll(stop)
      apps.detach()
      await Promise.all(names.map((name) => deps.runtime(name).close()))
    },
  }

  async function cancelRunning(projectId: string): Promise<void> {
    const rows = await store.db.read((tx) => tx.sqlAll<{ id: string }>('SELECT id FROM deployments WHERE project_id = ?', projectId))
    await Promise.all(rows.map((row) => worker.stop(row.id, 'canceled')))
  }
}
