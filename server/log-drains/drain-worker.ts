import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { limits } from '../contract/limits.ts'
import { type Clock, isoTime, sleep, type Timer } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { DrainProgressStore } from '../store/drain-progress.ts'
import type { Destination, SendResult } from './destination.ts'
import { type createDrainReader, requestStream } from './drain-reader.ts'

export interface DrainWorkerOptions {
  drain_id: string
  destination: Destination
  reader: ReturnType<typeof createDrainReader>
  /** New requests have no event. */
  reads_requests: boolean
  progress: DrainProgressStore
  clock: Clock
  log: Log
}

/** What a receiver answers to a request that is too large, or has a line that it cannot read. */
const isRefusal = ({ status }: SendResult): boolean => status === 400 || status === 413 || status === 422

/**
 * Delivers the lines of one drain, one batch after the other. A failed batch is sent again after a growing time, until it is delivered or the stored log no
 * longer has it.
 */
export function startDrainWorker({ drain_id, destination, reader, reads_requests, progress, clock, log }: DrainWorkerOptions) {
  const closing = new AbortController()
  const { signal } = closing
  const { batch_lines, batch_ms, first_retry_ms, max_retry_ms } = limits.log_drains
  let wakeUp: (() => void) | undefined
  let maxLines: number = batch_lines
  let failures = 0

  const wake = (stream: string): void => {
    reader.add(stream)
    wakeUp?.()
  }

  const waitForWork = async (): Promise<void> => {
    while (!reader.hasWork() && !signal.aborted) await new Promise<void>((resolve) => (wakeUp = resolve))
    await sleep(clock, batch_ms, signal)
  }

  /** Resolves with whether the next batch is due now. */
  const deliverBatch = async (): Promise<boolean> => {
    const batch = await reader.read(maxLines)
    const result = batch.lines.length === 0 ? undefined : await destination.send(batch.lines, signal)
    try {
      if (result === undefined || result.error === null) {
        await reader.acknowledge(batch)
        maxLines = Math.min(batch_lines, maxLines * 2)
        failures = 0
        return batch.is_full
      }
      if (signal.aborted) return false
      await progress.fail(drain_id, result.error, isoTime(clock.now()))
      if (isRefusal(result) && maxLines === 1) await reader.drop(batch)
      else reader.retry(batch)
    } catch (error) {
      reader.retry(batch)
      throw error
    }
    if (isRefusal(result) && maxLines > 1) maxLines = Math.max(1, Math.floor(batch.lines.length / 2))
    else failures++
    await sleep(clock, Math.min(max_retry_ms, first_retry_ms * 2 ** Math.max(0, failures - 1)), signal)
    return true
  }

  const run = async (): Promise<void> => {
    let isDue = false
    while (!signal.aborted) {
      try {
        if (!isDue) await waitForWork()
        isDue = await deliverBatch()
        await yieldToEventLoop()
      } catch (error) {
        if (signal.aborted) return
        // What cannot be recorded, such as on a full disk, is sent again later.
        log.warn('log_drain_failed', { drain: drain_id, error })
        isDue = false
        await sleep(clock, max_retry_ms, signal).catch(() => {})
      }
    }
  }

  let timer: Timer | undefined
  if (reads_requests) timer = clock.setInterval(() => wake(requestStream), batch_ms).unref()
  const running = run()

  return {
    wake,
    async close(): Promise<void> {
      closing.abort()
      timer?.cancel()
      wakeUp?.()
      await running
    },
  }
}
