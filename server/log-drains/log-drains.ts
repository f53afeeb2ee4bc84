import type { DomainEvent } from '../contract/domain-events.ts'
import type { LogDrain } from '../contract/log-drains.ts'
import { limits } from '../contract/limits.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import type { EventBus } from '../lib/event-bus.ts'
import type { Log } from '../lib/log.ts'
import type { ResolveAll } from '../notifications/post-json.ts'
import { listOpenDeployments } from '../store/deployments.ts'
import type { DrainProgressStore } from '../store/drain-progress.ts'
import type { LogDrainRow } from '../store/log-drain-tables.ts'
import { findLogOrigin, listAllLogDrains, listDeploymentIdsSince } from '../store/log-drains.ts'
import { parseLogName } from '../store/log-names.ts'
import type { LogStore } from '../store/log-store.ts'
import type { RequestStore } from '../store/request-store.ts'
import type { Sealer } from '../store/sealer.ts'
import type { Db } from '../store/store.ts'
import { createDestination, type Destination, type SendResult } from './destination.ts'
import { toOwnLine } from './drain-line.ts'
import { createDrainReader, requestStream } from './drain-reader.ts'
import { startDrainWorker } from './drain-worker.ts'
import { removeOrphanedFiles } from './log-file.ts'

export interface LogDrainsOptions {
  db: Db
  logs: LogStore
  requests: RequestStore
  progress: DrainProgressStore
  sealer: Sealer
  clock: Clock
  log: Log
  events: EventBus<DomainEvent>
  /** The folder of the files. */
  folder: string
  resolve?: ResolveAll
}

export interface LogDrains {
  /** Applies changed drains: begins, ends and restarts their workers. */
  reload(): Promise<void>
  /** Sends a test line. */
  test(row: LogDrainRow, slug: string): Promise<SendResult & { duration_ms: number }>
  close(): Promise<void>
}

type DrainRow = LogDrainRow & { slug: string }

interface RunningDrain {
  row: DrainRow
  sources: LogDrain['sources']
  destination: Destination
  worker: ReturnType<typeof startDrainWorker>
}

const maxKnownBuilds = 1000

/** Runs a worker for each log drain that is on, and tells it which logs have new lines. */
export function createLogDrains(options: LogDrainsOptions): LogDrains {
  const { db, logs, requests, progress, sealer, clock, log, events, folder } = options
  const running = new Map<string, RunningDrain>()
  let runningByProject = new Map<string, RunningDrain[]>()
  const closing = new AbortController()
  /** The project of each deployment that has built lately. */
  const projectsOfBuilds = new Map<string, string | undefined>()

  const openDestination = (row: LogDrainRow): Destination => {
    const unseal = (column: string, sealed: Uint8Array) => sealer.unseal({ table: 'log_drains', column, row: row.id }, sealed)
    try {
      const settings = {
        ...row,
        address: unseal('sealed_address', row.sealed_address),
        headers: row.sealed_headers === null ? [] : (JSON.parse(unseal('sealed_headers', row.sealed_headers)) as { name: string; value: string }[]),
        secret: row.sealed_secret === null ? null : unseal('sealed_secret', row.sealed_secret),
        is_trusted: row.is_trusted === 1,
      }
      return createDestination(settings, { clock, folder, resolve: options.resolve })
    } catch {
      return { send: async () => ({ status: null, error: 'The address cannot be decrypted with this master key. Add the drain again.' }) }
    }
  }

  /** The logs of the sources of a drain. Those of builds that began before the drain are not among them, but for the builds that run. */
  const listStreams = async ({ project_id, started_at }: DrainRow, sources: LogDrain['sources']): Promise<string[]> => {
    const builds = await db.read((tx) => [
      ...listOpenDeployments(tx, project_id),
      ...listDeploymentIdsSince(tx, project_id, started_at, limits.log_drains.builds),
    ])
    return [
      ...(sources.includes('app') ? logs.listStreamsOfProject(project_id) : []),
      ...(sources.includes('build') ? new Set(builds.map(({ id }) => id).reverse()) : []),
      ...(sources.includes('request') ? [requestStream] : []),
    ]
  }

  const begin = async (row: DrainRow, before: LogDrain['sources'] | undefined): Promise<void> => {
    const sources = JSON.parse(row.sources) as LogDrain['sources']
    const streams = await listStreams(row, sources)
    const readEnds = (names: string[]) =>
      names.map((stream) => ({
        stream,
        record: stream === requestStream ? requests.readRange(row.project_id).last : logs.readEnd(stream).record,
      }))
    if (progress.findState(row.id)?.started_at !== row.started_at) await progress.begin(row.id, row.started_at, readEnds(streams))
    else {
      const added = before === undefined ? [] : sources.filter((source) => !before.includes(source))
      // A source that was added begins with its next line.
      await progress.deliver(row.id, readEnds(await listStreams(row, added)), 0, isoTime(clock.now()))
      for (const { stream } of progress.listPositions(row.id))
        if (stream !== requestStream && logs.readEnd(stream).record === 0) await progress.forgetStream(row.id, stream)
    }
    const reader = createDrainReader({ ...options, drain: { ...row, sources } })
    const destination = openDestination(row)
    const reads_requests = sources.includes('request')
    const worker = startDrainWorker({ drain_id: row.id, destination, reader, reads_requests, progress, clock, log })
    for (const stream of streams) worker.wake(stream)
    running.set(row.id, { row, sources, destination, worker })
    indexByProject()
  }

  const indexByProject = () => void (runningByProject = Map.groupBy(running.values(), ({ row }) => row.project_id))

  const applyChanges = async (): Promise<void> => {
    if (closing.signal.aborted) return
    const rows = await db.read((tx) => listAllLogDrains(tx))
    const sourcesBefore = new Map<string, LogDrain['sources']>()
    const wanted = new Map(rows.filter((row) => row.is_enabled === 1).map((row) => [row.id, row]))
    for (const [id, { row, sources, worker }] of running) {
      const now = wanted.get(id)
      if (now?.revision === row.revision && now.slug === row.slug) continue
      running.delete(id)
      indexByProject()
      sourcesBefore.set(id, sources)
      await worker.close()
    }
    for (const row of wanted.values()) if (!running.has(row.id)) await begin(row, sourcesBefore.get(row.id))
    await progress.retain(new Set(rows.map(({ id }) => id)))
    await removeFiles(rows).catch((error: unknown) => log.warn('log_drain_files_not_removed', { error }))
  }

  /** Deletes the files of drains that are gone. With a wrong master key the names are unknown, and nothing is deleted. */
  const removeFiles = (rows: DrainRow[]): Promise<void> => {
    const nameOf = (row: DrainRow) => sealer.unseal({ table: 'log_drains', column: 'sealed_address', row: row.id }, row.sealed_address)
    return removeOrphanedFiles(folder, () => new Set(rows.filter(({ kind }) => kind === 'file').map((row) => `${row.project_id}/${nameOf(row)}`)))
  }

  let reloading: Promise<void> = Promise.resolve()
  const reload = (): Promise<void> => {
    const reloaded = reloading.then(applyChanges)
    reloading = reloaded.catch((error: unknown) => log.warn('log_drains_not_applied', { error }))
    return reloaded
  }

  const wakeDrains = (projectId: string | null | undefined, source: 'app' | 'build', stream: string): void => {
    for (const { sources, worker } of runningByProject.get(projectId ?? '') ?? []) if (sources.includes(source)) worker.wake(stream)
  }

  const onBuildLine = async (deploymentId: string): Promise<void> => {
    if (!projectsOfBuilds.has(deploymentId)) {
      if (projectsOfBuilds.size >= maxKnownBuilds) projectsOfBuilds.clear()
      projectsOfBuilds.set(deploymentId, (await db.read((tx) => findLogOrigin(tx, deploymentId)))?.project_id)
    }
    wakeDrains(projectsOfBuilds.get(deploymentId), 'build', deploymentId)
  }

  /** Called with every stored batch of lines, so that it must not do more than this. */
  const unsubscribe = events.subscribe((event) => {
    if (running.size === 0) return
    if (event.type === 'log_appended') {
      const { project_id, deployment_id } = parseLogName(event.id)
      if (deployment_id === null) wakeDrains(project_id, 'app', event.id)
      else void onBuildLine(deployment_id).catch((error: unknown) => log.warn('log_drain_build_not_found', { error }))
    } else if (event.type === 'project_changed' && runningByProject.has(event.id)) void reload().catch(() => {})
  })

  return {
    reload,
    async test(row, slug) {
      const startedAt_ms = clock.monotonic()
      const { destination } = running.get(row.id) ?? { destination: openDestination(row) }
      const result = await destination.send([toOwnLine(slug, 'Test line from Homeport.', clock.now())], closing.signal)
      return { ...result, duration_ms: Math.round(clock.monotonic() - startedAt_ms) }
    },
    async close() {
      closing.abort()
      unsubscribe()
      await reloading
      await Promise.all([...running.values()].map(({ worker }) => worker.close()))
    },
  }
}
