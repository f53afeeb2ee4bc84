import { expect, test } from 'vitest'
import type { SupervisedApp } from '../../server/deployments/supervised-app.ts'
import { createUsageReader } from '../../server/deployments/usage.ts'
import type { DeploymentContext } from '../../server/deployments/context.ts'
import { sleep } from '../../server/lib/clock.ts'
import { silentLog } from '../../server/lib/log.ts'
import { createTestClock } from '../support/test-clock.ts'

type Used = { cpu_percent: number; memory_mb: number } | null

/** An engine that responds when told. */
function createContext() {
  const clock = createTestClock({ frozen_at: 0 })
  const requests: { id: string; answer(used: Used): void; refuse(): void }[] = []
  const usage = (id: string) =>
    new Promise<Used>((resolve, reject) => void requests.push({ id, answer: resolve, refuse: () => reject(new Error('the engine is away')) }))
  const deps = {
    clock,
    log: silentLog,
    runtime: () => ({ usage }),
    pause: (ms: number, signal: AbortSignal) =>
      sleep(clock, ms, signal).then(
        () => true,
        () => false,
      ),
  } satisfies Partial<{ [Name in keyof DeploymentContext]: unknown }> as never as DeploymentContext
  const apps = new Map<string, SupervisedApp>()
  const run = (id: string, more: Partial<SupervisedApp> = {}) =>
    apps.set('prj', {
      spec: { project_id: 'prj', deployment_id: 'dpl', runtime: 'docker', memory_mb: 256 },
      candidate: { replica: { id } },
      sleep: null,
      ...more,
    } as SupervisedApp)
  const look = createUsageReader(deps, (id) => apps.get(id))
  /** Requests usage, and waits as long as a caller does. */
  const lookLong = async (id: string) => {
    const used = look(id)
    await clock.advance(1_600)
    return used
  }
  return { requests, apps, run, look, lookLong, pass: (ms: number) => clock.advance(ms) }
}

test('queries an engine once for concurrent requests', async () => {
  const { requests, run, look } = createContext()
  run('one')
  const all = Promise.all(Array.from({ length: 50 }, () => look('prj')))
  expect(requests.map((one) => one.id)).toEqual(['one'])
  requests[0]?.answer({ cpu_percent: 3, memory_mb: 70 })
  expect(new Set(await all)).toEqual(new Set([{ cpu_percent: 3, memory_mb: 70, memory_limit_mb: 256 }]))
  await look('prj')
  expect(requests).toHaveLength(1)
})

test('does not wait for a slow engine: the last known values are returned', async () => {
  const { requests, run, lookLong, pass } = createContext()
  run('one')
  expect(await lookLong('prj')).toBeNull()
  await pass(5_000)
  expect(await lookLong('prj')).toBeNull()
  expect(requests).toHaveLength(1)
  requests[0]?.answer({ cpu_percent: 3, memory_mb: 70 })
  await pass(2_500)
  expect(await lookLong('prj')).toMatchObject({ memory_mb: 70 })
  expect(requests).toHaveLength(2)
  requests[1]?.answer({ cpu_percent: 3, memory_mb: 90 })
  expect(await lookLong('prj')).toMatchObject({ memory_mb: 90 })
})

test('keeps the last known values of an unavailable engine; another replica starts anew', async () => {
  const { requests, run, look, lookLong, pass } = createContext()
  run('one')
  const first = look('prj')
  requests[0]?.answer({ cpu_percent: 3, memory_mb: 70 })
  await first
  await pass(2_500)
  const second = look('prj')
  requests[1]?.refuse()
  expect(await second).toMatchObject({ memory_mb: 70 })
  run('two')
  expect(await lookLong('prj')).toBeNull()
  expect(requests.at(-1)?.id).toBe('two')
})

test('reports nothing for an app without a replica or asleep', async () => {
  const { requests, apps, run, look } = createContext()
  expect(await look('prj')).toBeNull()
  run('one', { candidate: null })
  expect(await look('prj')).toBeNull()
  run('one', { sleep: {} as SupervisedApp['sleep'] })
  expect(await look('prj')).toBeNull()
  apps.clear()
  expect(requests).toEqual([])
})
