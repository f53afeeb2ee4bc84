import { expect, test } from 'vitest'
import { limits } from '../../server/contract/limits.ts'
import { createLog } from '../../server/lib/log.ts'
import { type DrainWorkerOptions, startDrainWorker } from '../../server/log-drains/drain-worker.ts'
import { createTestClock } from '../support/test-clock.ts'
import { until } from '../support/until.ts'

const stream = 'shop-production'
const record = { project: 'shop', environment: 'production', branch: null, service: null, deployment_id: null } as const
const line = { ...record, id: '1', timestamp: '2026-01-31T12:00:00.000Z', source: 'app', level: 'info', message: 'said' } as const

test('lines whose delivery cannot be recorded, as on a full disk, are sent again', async () => {
  const clock = createTestClock({ frozen_at: 0 })
  const changed = new Set<string>()
  const [sent, logged, recorded]: [string[], string[], string[]] = [[], [], []]
  let isDiskFull = true
  const reader: DrainWorkerOptions['reader'] = {
    add: (name) => void changed.add(name),
    hasWork: () => changed.size > 0,
    read: async () => {
      changed.clear()
      return { lines: [line], positions: new Map([[stream, 1]]), is_full: false }
    },
    acknowledge: async ({ lines }) => {
      if (isDiskFull) throw new Error('The disk is full.')
      recorded.push(...lines.map(({ message }) => message))
    },
    retry: ({ positions }) => positions.forEach((_, name) => changed.add(name)),
    drop: async () => {},
  }
  const worker = startDrainWorker({
    drain_id: 'drn_1',
    destination: {
      send: async (lines) => {
        sent.push(...lines.map(({ message }) => message))
        return { error: null, status: 200 }
      },
    },
    reader,
    reads_requests: false,
    progress: { fail: async () => {} } as Partial<DrainWorkerOptions['progress']> as DrainWorkerOptions['progress'],
    clock,
    log: createLog((text) => void logged.push(text)),
  })
  const advanceUntil = (check: () => boolean, what: string) =>
    until(
      async () => {
        await clock.advance(limits.log_drains.max_retry_ms)
        return check() || undefined
      },
      { what },
    )
  worker.wake(stream)
  await advanceUntil(() => logged.length > 0, 'the failure in the log')
  expect(logged[0]).toContain('The disk is full.')
  expect([sent, reader.hasWork()]).toEqual([['said'], true])
  isDiskFull = false
  await advanceUntil(() => recorded.length > 0, 'the recorded line')
  expect(recorded).toEqual(['said'])
  await worker.close()
})
