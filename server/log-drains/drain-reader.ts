import type { LogDrain } from '../contract/log-drains.ts'
import { limits } from '../contract/limits.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import type { DrainProgressStore } from '../store/drain-progress.ts'
import { findLogOrigin, type LogOrigin } from '../store/log-drains.ts'
import { parseLogName } from '../store/log-names.ts'
import { parseLogRecord } from '../store/log-records.ts'
import type { LogChunk, LogStore } from '../store/log-store.ts'
import type { RequestStore } from '../store/request-store.ts'
import type { Db } from '../store/store.ts'
import { type DrainLine, toGapLine, toLogLine, toRequestLine } from './drain-line.ts'

/** The name under which the progress of the request log is stored. */
export const requestStream = 'requests'

export interface DrainReaderOptions {
  drain: { id: string; project_id: string; slug: string; sources: LogDrain['sources']; environments: LogDrain['environments'] }
  db: Db
  logs: Pick<LogStore, 'readAfter' | 'readEnd'>
  requests: Pick<RequestStore, 'readRange' | 'list'>
  progress: DrainProgressStore
  clock: Clock
}

/** Lines that are delivered together, and where the next ones begin. */
export interface DrainBatch {
  lines: DrainLine[]
  positions: Map<string, number>
  /** There was more than fits into a batch. */
  is_full: boolean
}

/** About what a line takes besides its message. */
const lineOverhead_bytes = 300
const maxOrigins = 1000

/**
 * Reads the next lines of the logs of a project from where the drain is. Nothing waits in memory: what was not delivered is read again, for as long as the
 * stored log has it. `add` names a log that may have new lines.
 */
export function createDrainReader({ drain, db, logs, requests, progress, clock }: DrainReaderOptions) {
  const changed = new Set<string>()
  const positions = new Map(progress.listPositions(drain.id).map((position) => [position.stream, position]))
  const origins = new Map<string, LogOrigin | undefined>()

  const positionOf = (stream: string) => positions.get(stream) ?? { stream, record: 0, gap: 0 }

  /** Counts what the log no longer has. Returns where reading goes on. */
  const skipTo = async (stream: string, from: number, record: number): Promise<number> => {
    const dropped = record - from
    await progress.skip(drain.id, { stream, record }, dropped, isoTime(clock.now()))
    positions.set(stream, { stream, record, gap: positionOf(stream).gap + dropped })
    return record
  }

  /** Who a deployment belongs to. A request that no deployment answered counts as one of production. */
  const findOrigin = async (deploymentId: string | null | undefined): Promise<LogOrigin | undefined> => {
    if (deploymentId == null) return undefined
    if (!origins.has(deploymentId)) {
      if (origins.size >= maxOrigins) origins.clear()
      origins.set(deploymentId, await db.read((tx) => findLogOrigin(tx, deploymentId)))
    }
    return origins.get(deploymentId)
  }

  const isWanted = (environment: 'production' | 'preview'): boolean =>
    drain.environments === 'all' || (environment === 'preview') === (drain.environments === 'previews')

  const readLog = async (stream: string, batch: DrainBatch, isFull: () => boolean): Promise<void> => {
    const name = parseLogName(stream)
    let at = positionOf(stream).record
    for (let chunk: LogChunk | undefined; !isFull() && (chunk = logs.readAfter(stream, at)) !== undefined;) {
      // What a trimmed log lost, but not the numbers before the first record of a log.
      if (chunk.first > at + 1) at = await skipTo(stream, at, chunk.first - 1)
      addGap(stream, batch)
      for (const text of chunk.body.split('\n').slice(at + 1 - chunk.first)) {
        if (isFull()) break
        at++
        const record = parseLogRecord(text)
        if (!record) continue
        const deploymentId = name.deployment_id ?? record.deployment_id ?? null
        const origin = await findOrigin(deploymentId)
        const environment = name.environment ?? origin?.target ?? 'production'
        if (!isWanted(environment)) continue
        const known = { id: `${stream}.${at}`, project: drain.slug, service: name.service, origin, environment }
        batch.lines.push(toLogLine(known, record, deploymentId))
      }
      batch.positions.set(stream, at)
    }
    // The log was deleted and began again, as that of a preview that was closed and opened.
    const end = isFull() ? at : logs.readEnd(stream).record
    if (end < at) {
      positions.delete(stream)
      if (end > 0) changed.add(stream)
      await progress.forgetStream(drain.id, stream)
      batch.positions.delete(stream)
    }
    if (isFull()) changed.add(stream)
  }

  const readRequests = async (batch: DrainBatch, isFull: () => boolean): Promise<void> => {
    const { from, last } = requests.readRange(drain.project_id)
    let at = positionOf(requestStream).record
    if (from > at + 1) at = await skipTo(requestStream, at, from - 1)
    // The request log was deleted and began again.
    if (at > last) at = 0
    if (at >= last) return
    addGap(requestStream, batch)
    const rows = requests.list(drain.project_id, {}, { from: at + 1, to: last + 1, limit: limits.log_drains.batch_lines, order: 'asc' })
    for (const row of rows) {
      if (isFull()) break
      at = row.number
      const origin = await findOrigin(row.deployment_id)
      const environment = origin?.target ?? 'production'
      if (!isWanted(environment)) continue
      batch.lines.push(toRequestLine({ id: row.id, project: drain.slug, service: null, origin, environment }, row))
    }
    batch.positions.set(requestStream, at)
    if (at < last) changed.add(requestStream)
  }

  const addGap = (stream: string, batch: DrainBatch): void => {
    const { gap } = positionOf(stream)
    if (gap > 0 && !batch.positions.has(stream)) batch.lines.push(toGapLine(drain.slug, gap, clock.now()))
  }

  const moveOn = async (batch: DrainBatch, delivered: number): Promise<void> => {
    const moved = [...batch.positions].map(([stream, record]) => ({ stream, record }))
    if (moved.length > 0) await progress.deliver(drain.id, moved, delivered, isoTime(clock.now()))
    for (const position of moved) positions.set(position.stream, { ...position, gap: 0 })
  }

  return {
    add: (stream: string) => void changed.add(stream),
    hasWork: () => changed.size > 0,

    async read(maxLines: number): Promise<DrainBatch> {
      const batch: DrainBatch = { lines: [], positions: new Map(), is_full: false }
      let counted = 0
      let bytes = 0
      const isFull = (): boolean => {
        for (; counted < batch.lines.length; counted++) bytes += batch.lines[counted]!.message.length + lineOverhead_bytes
        return counted >= maxLines || bytes >= limits.log_drains.batch_bytes
      }
      const streams = [...changed]
      for (const stream of streams) {
        if (isFull()) break
        // A log with more lines is added again, behind the others.
        changed.delete(stream)
        try {
          if (stream === requestStream) await readRequests(batch, isFull)
          else await readLog(stream, batch, isFull)
        } catch (error) {
          for (const one of [stream, ...batch.positions.keys()]) changed.add(one)
          throw error
        }
      }
      batch.is_full = isFull()
      return batch
    },

    acknowledge: (batch: DrainBatch) => moveOn(batch, batch.lines.length),

    /** The lines will be read again. */
    retry(batch: DrainBatch): void {
      for (const stream of batch.positions.keys()) changed.add(stream)
    },

    /** Drops the line of a batch of one, which the receiver will never accept. Such a batch ends with the log that has the line. */
    async drop(batch: DrainBatch): Promise<void> {
      await moveOn(batch, 0)
      const last = [...batch.positions].at(-1)
      if (last && batch.lines[0]?.dropped === undefined) await skipTo(last[0], last[1] - 1, last[1])
    },
  }
}
