import { expect, test } from 'vitest'
import type { AppSpec, SupervisedApp } from '../../server/deployments/supervised-app.ts'
import { createIdleMonitor } from '../../server/deployments/idle.ts'
import type { DeploymentContext } from '../../server/deployments/context.ts'
import { silentLog } from '../../server/lib/log.ts'
import { createTestClock } from '../support/test-clock.ts'

const hours = 3_600_000

/** One app that is idle from the start, and a clock that can also jump, as when the machine sleeps. */
function createContext() {
  const ticking = createTestClock({ frozen_at: '2026-01-01' })
  let jumped = 0
  const clock = { ...ticking, monotonic: () => ticking.monotonic() + jumped }
  const done: string[] = []
  const runtime = {
    freeze: async () => void done.push('freeze'),
    thaw: async () => void done.push('thaw'),
    stop: async () => void done.push('stop'),
    usage: async () => null,
  }
  const app = {
    spec: {
      project_id: 'prj',
      deployment_id: 'dpl',
      runtime: 'process',
      memory_mb: 256,
      replicas: 1,
      services: [] as AppSpec['services'],
    } as AppSpec,
    candidate: { replica: { id: 'one' } },
    stopController: new AbortController(),
    sleep: null,
    busy_at: -Infinity,
  } as Partial<SupervisedApp> as SupervisedApp
  const deps = {
    clock,
    log: silentLog,
    environmentsWithCommands: new Map(),
    runtime: () => runtime,
    routes: { idleSince: () => 0 },
    settings: () => ({ sleep_after_s: 60, frozen_for_s: 600, frozen_budget_mb: 2048 }),
    edge: { meter: { coldStart: () => {} } },
  } satisfies Partial<{ [Name in keyof DeploymentContext]: unknown }> as never as DeploymentContext
  const nothing = () => {}
  const watch = createIdleMonitor(deps, {
    listApps: () => [app],
    updateRoute: nothing,
    routeAsleep: async () => {},
    showStartingPage: nothing,
    recordState: nothing,
    saveFiles: async () => {},
    saveColdState: nothing,
    restartApp: async () => void done.push('start'),
    services: {
      freezeOwn: async () => {},
      thaw: async () => {},
      stop: async () => {},
      revive: async () => {},
      isBusy: async () => false,
    },
  })
  return { advance: (ms: number) => ticking.advance(ms), jump: (ms: number) => void (jumped += ms), watch, app, done }
}

test('an app is frozen exactly when its idle time is over, and stopped when its frozen time is over', async () => {
  const { advance, done } = createContext()
  await advance(59_000)
  expect(done).toEqual([])
  await advance(1_000)
  expect(done).toEqual(['freeze'])
  await advance(599_000)
  expect(done).toEqual(['freeze'])
  await advance(2_000)
  expect(done).toEqual(['freeze', 'stop'])
})

test('time during which the machine slept counts neither as idle nor as frozen time', async () => {
  const { advance, jump, done } = createContext()
  await advance(30_000)
  jump(8 * hours)
  await advance(60_000)
  expect(done).toEqual([])
  await advance(1_000)
  expect(done).toEqual(['freeze'])
  jump(8 * hours)
  await advance(600_000)
  expect(done).toEqual(['freeze'])
  await advance(1_000)
  expect(done).toEqual(['freeze', 'stop'])
})

test('resync restarts the idle time, and a visit thaws', async () => {
  const { advance, watch, app, done } = createContext()
  await advance(59_000)
  watch.resync()
  await advance(59_000)
  expect(done).toEqual([])
  await advance(1_000)
  watch.wake(app, 'request')
  await advance(0)
  expect(done).toEqual(['freeze', 'thaw'])
  expect(app.sleep).toBeNull()
})
