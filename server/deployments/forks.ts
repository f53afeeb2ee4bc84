import type { Fork, ForkSource } from '../contract/forks.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import { Problem } from '../contract/errors.ts'
import type { VolumeSnapshot } from '../contract/volumes.ts'
import { isoTime } from '../lib/clock.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { findCurrentDeployment, listOpenDeployments } from '../store/deployments.ts'
import { deleteFork, findFork, listForks, putFork } from '../store/forks.ts'
import { findPreview } from '../store/previews.ts'
import type { Tx } from '../store/store.ts'
import type { ForkRow } from '../store/managed-tables.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { DeploymentContext } from './context.ts'
import { changeData } from './data-changes.ts'
import type { EnqueueRequest } from './deployment-row.ts'
import { type CopiedData, type ForkUndo, undoFork } from './fork-undo.ts'
import { nameEnvironment } from './supervised-app.ts'
import type { EnvironmentState, Supervisor } from './supervisor.ts'
import { createVolumeSnapshots } from './volume-snapshots.ts'

/** The functions for features: branches with their own copy of production's data. */
export interface Forks {
  list(projectId: string): Promise<{ forks: ForkData[]; production: ForkSource }>
  /** Throws `build_in_progress`. On failure, the branch keeps its previous data. */
  create(project: ProjectRow, branch: string, from: string | undefined): Promise<ForkResult>
  /** Throws `fork_not_found` and `build_in_progress`. */
  remove(project: ProjectRow, branch: string): Promise<{ deployment_id: string | null }>
}

export type ForkData = Omit<Fork, 'url'>

interface ForkResult {
  fork: ForkData
  replaced: { volume: string; snapshot: VolumeSnapshot }[]
  dump_id: string | null
  deployment_id: string | null
}

/** An environment with its volumes. `state` is undefined while nothing of it is live. */
interface EnvironmentData {
  id: string
  state: EnvironmentState | undefined
  runtime: RuntimeName
  volumes: { name: string; size_bytes: number | null }[]
}

/**
 * Copies the data of an environment for a branch. The data that a copy replaces is recorded in its row first, so that a failure or an interruption is
 * undone: the branch has its old data or the complete new copy.
 */
export function createForks(context: DeploymentContext, supervisor: Supervisor, enqueue: (tx: Tx, request: EnqueueRequest) => string): Forks {
  const { store, clock } = context
  const snapshots = createVolumeSnapshots(context.data_dir)

  const requireNoDeployment = async (projectId: string, branch: string): Promise<void> => {
    const rows = await store.db.read((tx) => listOpenDeployments(tx, projectId))
    if (rows.some((row) => row.target === 'preview' && row.branch === branch))
      throw new Problem('build_in_progress', `The branch “${branch}” is being deployed. Wait until that has finished, or cancel it, then try again.`)
  }

  /** A development server has the addresses of the services that run with this data. */
  const requireNoSession = (project: ProjectRow, branch: string): void => {
    if (supervisor.isHoldingImages(nameEnvironment({ project_id: project.id, branch })))
      throw new Problem(
        'dev_session_exists',
        `A development server uses the services of “${branch}”. Stop it with homeport dev ${project.slug} --stop, then try again.`,
      )
  }

  /** Deploys the live version of a preview again, because its variables have changed. */
  const redeploy = (project_id: string, branch: string): Promise<string | null> =>
    store.db.write((tx) => {
      const current = findCurrentDeployment(tx, project_id, 'preview', branch)
      return current ? enqueue(tx, { project_id, trigger: 'env_change', source: { of: current.id } }) : null
    })

  const requireRuntime = async (name: RuntimeName): Promise<Runtime> => {
    const runtime = context.runtime(name)
    const { available, reason } = await runtime.probe()
    if (!available) throw new Problem('runtime_unavailable', `The data cannot be changed now. ${reason}`)
    return runtime
  }

  /** An environment that is not live has its volumes on the runtime of its last version. */
  const readData = async (projectId: string, branch: string | undefined): Promise<EnvironmentData> => {
    const id = nameEnvironment({ project_id: projectId, branch })
    const state = supervisor.findEnvironment(id)
    const read = async (runtime: RuntimeName) =>
      (await context.runtime(runtime).listVolumes(`${id}.`)).map((one) => ({ name: one.id.slice(id.length + 1), size_bytes: one.bytes }))
    if (state) return { id, state, runtime: state.spec.runtime, volumes: await read(state.spec.runtime) }
    for (const runtime of context.runtimeNames) {
      if (!(await context.runtime(runtime).probe()).available) continue
      const volumes = await read(runtime)
      if (volumes.length > 0) return { id, state, runtime, volumes }
    }
    return { id, state, runtime: context.default_runtime, volumes: [] }
  }

  const putRow = (row: ForkRow): Promise<void> =>
    store.db.write((tx) => {
      putFork(tx, row)
      tx.publish({ type: 'project_changed', id: row.project_id })
    })

  const copyVolumes = async (
    from: EnvironmentData,
    to: { id: string; runtime: RuntimeName },
    projectId: string,
    signal: AbortSignal,
  ): Promise<void> => {
    const runtime = context.runtime(to.runtime)
    for (const { name } of from.volumes) {
      const [source, target] = [`${from.id}.${name}`, `${to.id}.${name}`]
      if (from.runtime === to.runtime) await runtime.copyVolume(source, target, projectId, signal)
      else {
        const archive = await context.runtime(from.runtime).exportVolume(source)
        if (archive) await runtime.importVolume(target, projectId, archive)
      }
    }
  }

  /** Cached responses contain the previous data. */
  const purgePreview = async (projectId: string, branch: string): Promise<void> => {
    const preview = await store.db.read((tx) => findPreview(tx, projectId, branch))
    if (preview) await context.purgeEdgeCache(projectId, preview.host)
  }

  const create = async (project: ProjectRow, branch: string, from: string | undefined): Promise<ForkResult> => {
    await requireNoDeployment(project.id, branch)
    requireNoSession(project, branch)
    const source = await readData(project.id, from)
    const target = await readData(project.id, branch)
    const to = { id: target.id, runtime: target.state?.spec.runtime ?? context.default_runtime }
    const runtime = await requireRuntime(to.runtime)
    await requireRuntime(source.runtime)
    const { signal } = new AbortController()
    const started = clock.monotonic()
    const row = (await store.db.read((tx) => findFork(tx, project.id, branch))) ?? { project_id: project.id, branch, copied: null, undo: null }
    const undo: ForkUndo = {
      runtime: to.runtime,
      volumes: [],
      had_database: (await context.databases.find(project.id, branch)) !== undefined,
      dump_id: null,
    }
    const saveUndo = () => putRow({ ...row, undo: JSON.stringify(undo) })
    await saveUndo()
    try {
      return await (target.state ? supervisor.stopWhile(target.state.spec, replace) : replace())
    } catch (error) {
      if (/ENOSPC|No space left on device/.test(String(error)))
        throw new Problem('storage_full', 'The disk is full, so the branch keeps its previous data. Free some space and try again.', {
          cause: error,
        })
      throw error
    }

    async function replace(): Promise<ForkResult> {
      try {
        const replaced: ForkResult['replaced'] = []
        for (const { name } of source.volumes) {
          const snapshot = await snapshots.save(runtime, `${to.id}.${name}`, 'before_restore')
          if (snapshot) replaced.push({ volume: name, snapshot })
          undo.volumes.push({ name, snapshot_id: snapshot?.id ?? null })
        }
        await saveUndo()
        const copy = async () => {
          await copyVolumes(source, to, project.id, signal)
          const onDumped = (id: string) => {
            undo.dump_id = id
            return saveUndo()
          }
          return context.databases.fork(project.id, { from: from ?? '', to: branch, onDumped }, signal)
        }
        const database = await (source.state ? supervisor.freezeWhile(source.state.spec, copy) : copy())
        const copied: CopiedData = {
          from_branch: from ?? null,
          volumes: source.volumes,
          database_bytes: database?.size_bytes ?? null,
          duration_ms: Math.round(clock.monotonic() - started),
          created_at: isoTime(clock.now()),
        }
        await putRow({ ...row, copied: JSON.stringify(copied), undo: null })
        await purgePreview(project.id, branch)
        const deployment_id = database?.is_new && target.state ? await redeploy(project.id, branch) : null
        return { fork: { branch, ...copied, is_copying: false }, replaced, dump_id: undo.dump_id, deployment_id }
      } catch (error) {
        await undoFork(context, { ...row, undo: JSON.stringify(undo) })
        throw error
      }
    }
  }

  const remove = async (project: ProjectRow, branch: string): Promise<{ deployment_id: string | null }> => {
    const [row, preview] = await store.db.read((tx) => [findFork(tx, project.id, branch), findPreview(tx, project.id, branch)])
    if (!row)
      throw new Problem('fork_not_found', `The branch “${branch}” has no copy of the data. List the copies with homeport fork ${project.slug}.`)
    await requireNoDeployment(project.id, branch)
    requireNoSession(project, branch)
    const target = await readData(project.id, branch)
    const runtime = await requireRuntime(target.runtime)
    const copied = JSON.parse(row.copied ?? '{"volumes":[]}') as CopiedData
    const names = preview ? copied.volumes.map(({ name }) => name) : target.volumes.map(({ name }) => name)
    const empty = async () => {
      for (const name of names) {
        const id = `${target.id}.${name}`
        if (preview) await snapshots.save(runtime, id, 'before_delete')
        if (!(await runtime.removeVolume(id))) throw new Error(`The volume ${id} is in use.`)
      }
      if (copied.database_bytes !== null) await context.databases.dropPreview(project.id, branch)
      if (!preview) await snapshots.removeAll(`${target.id}.`)
      await store.db.write((tx) => {
        deleteFork(tx, project.id, branch)
        tx.publish({ type: 'project_changed', id: project.id })
      })
    }
    await (target.state ? supervisor.stopWhile(target.state.spec, empty) : empty())
    await purgePreview(project.id, branch)
    return { deployment_id: copied.database_bytes !== null && target.state ? await redeploy(project.id, branch) : null }
  }

  return {
    async list(projectId) {
      const rows = await store.db.read((tx) => listForks(tx, projectId))
      const forks = rows.flatMap(({ branch, copied, undo }) =>
        copied === null ? [] : [{ branch, ...(JSON.parse(copied) as CopiedData), is_copying: undo !== null }],
      )
      const { volumes } = await readData(projectId, undefined)
      return { forks, production: { volumes, has_database: (await context.databases.find(projectId))?.is_ready === 1 } }
    },
    create: (project, branch, from) => changeData(context, nameEnvironment({ project_id: project.id, branch }), () => create(project, branch, from)),
    remove: (project, branch) => changeData(context, nameEnvironment({ project_id: project.id, branch }), () => remove(project, branch)),
  }
}
