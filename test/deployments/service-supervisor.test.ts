import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ServiceConfig } from '../../server/contract/project-config.ts'
import type { RuntimeLogs } from '../../server/deployments/runtime-logs.ts'
import { createServiceSupervisor } from '../../server/deployments/create-service-supervisor.ts'
import type { ServiceSupervisor } from '../../server/deployments/service-supervisor.ts'
import { noMask } from '../../server/deployments/secret-mask.ts'
import { createServiceSpecs } from '../../server/deployments/service-spec.ts'
import type { AppSpec } from '../../server/deployments/supervised-app.ts'
import { sleep } from '../../server/lib/clock.ts'
import { silentLog } from '../../server/lib/log.ts'
import { type ReplicaExit, type Runtime, StartFailure } from '../../server/runtime/runtime.ts'
import { processDriver } from '../runtime/process-driver.ts'
import { createContext } from '../runtime/suite-context.ts'
import { createTestClock, type TestClock } from '../support/test-clock.ts'
import { until } from '../support/until.ts'

/** The image service of an environment. Processes replace containers; the version is in their variables. */
const cache: ServiceConfig = {
  name: 'cache',
  kind: 'image',
  aliases: [],
  source: { kind: 'image', image: 'cache', files: [] },
  entrypoint: null,
  command: null,
  port: null,
  is_public: false,
  schedule: null,
  time_zone: null,
  working_directory: null,
  environment: {},
  environment_templates: {},
  volumes: [],
  depends_on: [],
  restart: 'always',
  health_check: null,
  memory_mb: null,
  cpus: null,
  replicas: null,
}
const staysAlive = 'setInterval(() => {}, 1000)'

describe('the image services of an environment', () => {
  const suite = createContext(processDriver)
  let clock: TestClock
  let supervisor: ServiceSupervisor
  /** Events of replicas, such as `start 2`. */
  let events: string[]
  /** Awaited before a replica of this version is stopped. */
  let holds: Map<string, Promise<void>>
  let failures: number
  let crashes: string[]
  const running = new Map<string, string>()
  const { signal } = new AbortController()

  /** The process driver, which records its calls, and waits or fails as a test requires. */
  const createWatchedRuntime = (): Runtime => ({
    ...suite.runtime,
    async start(request) {
      const { MARK = '' } = request.variables
      if (failures-- > 0) throw new StartFailure('start_failed', 'The engine is busy.', 'Try again.')
      const replica = await suite.runtime.start(request)
      running.set(replica.id, MARK)
      events.push(`start ${MARK}`)
      return replica
    },
    async stop(id) {
      const mark = running.get(id) ?? ''
      await holds.get(mark)
      await suite.runtime.stop(id, 0)
      if (running.delete(id)) events.push(`stop ${mark}`)
    },
    async freeze(id) {
      events.push(`freeze ${running.get(id)}`)
    },
    async thaw(id) {
      events.push(`thaw ${running.get(id)}`)
    },
  })

  const logs: Pick<RuntimeLogs, 'observeOutput' | 'recordState'> = {
    recordState: () => {},
    observeOutput() {
      const exited = Promise.withResolvers<ReplicaExit>()
      return { exited: exited.promise, observer: { onLine: () => {}, onExit: exited.resolve } }
    },
  }

  /** A version whose image has this definition. */
  const createVersion = (mark: string, { deployment_id = `dpl_${mark}` } = {}): AppSpec => {
    const { artifact } = suite.app
    const config: ServiceConfig = { ...cache, environment: { MARK: mark, SCRIPT: staysAlive } }
    const version = { main: null, services: [{ config, artifact }], release: null, settings: {} }
    const options = {
      environment_id: 'prj_1',
      deployment_id,
      target: 'production' as const,
      variables: {},
      memory_mb: 256,
      cpus: 1,
      health_timeout_s: 60,
      node_labels: [],
      max_replicas: 20,
      withTracing: (variables: Record<string, string>) => variables,
    }
    return {
      project_id: 'prj_1',
      deployment_id,
      target: 'production',
      branch: null,
      runtime: 'process',
      artifact: null,
      main_service: 'web',
      main_config: null,
      release: null,
      services: createServiceSpecs(version, options).services,
      ports: [],
      listen_port: null,
      environment_id: 'prj_1',
      memory_mb: 256,
      cpus: 1,
      health: { path: '/', timeout_ms: 1_000 },
      always_warm: false,
      replicas: 1,
      autoscaling: null,
      sticky_sessions: false,
      variables: {},
      mask: noMask,
    }
  }

  beforeEach(() => {
    clock = createTestClock({ frozen_at: '2026-01-01' })
    events = []
    holds = new Map()
    failures = 0
    crashes = []
    const runtime = createWatchedRuntime()
    const pause = (ms: number, until: AbortSignal) =>
      sleep(clock, ms, until).then(
        () => true,
        () => false,
      )
    const context = { runtime: () => runtime, pause, clock, log: silentLog, scheduleCleanup: async () => {} }
    supervisor = createServiceSupervisor(
      context,
      logs,
      () => {},
      (_, { config }) => crashes.push(config.name),
    )
  })
  afterEach(async () => {
    holds.clear()
    await supervisor.stopEnvironment('prj_1', 0)
    // No replica is left without supervision.
    expect([...running.values()]).toEqual([])
  })

  test('concurrent starts of one image by two versions leave one replica, after the previous one stopped', async () => {
    const live = createVersion('1')
    supervisor.claim(createVersion('2'))
    await supervisor.start(createVersion('2'), 'images', signal)
    const hold = Promise.withResolvers<void>()
    holds.set('2', hold.promise)
    supervisor.claim(live)
    const both = [supervisor.start(live, 'images', signal), supervisor.start(live, 'images', signal)]
    await clock.advance(0)
    expect(events).toEqual(['start 2'])
    hold.resolve()
    await Promise.all(both)
    expect(events).toEqual(['start 2', 'stop 2', 'start 1'])
  })

  test('restarting the live version leaves the services of the version being deployed alone', async () => {
    const live = createVersion('1')
    await supervisor.start(live, 'images', signal)
    const next = createVersion('2')
    supervisor.claim(next)
    // Before the next one has started, and after.
    await supervisor.start(live, 'images', signal)
    await supervisor.start(next, 'images', signal)
    await supervisor.start(live, 'images', signal)
    await supervisor.restart(live, 'cache')
    expect(events).toEqual(['start 1', 'stop 1', 'start 2', 'stop 2', 'start 2'])
  })

  test('putting the live version to sleep leaves the services of the version being deployed running', async () => {
    const live = createVersion('1')
    await supervisor.start(live, 'images', signal)
    const next = createVersion('1', { deployment_id: 'dpl_next' })
    supervisor.claim(next)
    await supervisor.start(next, 'images', signal)
    await supervisor.freezeOwn(live)
    await supervisor.stop(live)
    expect(events).toEqual(['start 1'])
    // All running replicas are part of a copy of the data.
    await supervisor.freeze(live)
    await supervisor.thaw(live)
    await supervisor.freezeOwn(next)
    await supervisor.stop(next)
    expect(events).toEqual(['start 1', 'freeze 1', 'thaw 1', 'freeze 1', 'stop 1'])
  })

  test('a replica of a failed version with another definition is stopped, and one shared with the live version stays', async () => {
    const live = createVersion('1')
    for (const mark of ['1', '2']) {
      const next = createVersion(mark, { deployment_id: 'dpl_next' })
      supervisor.claim(next)
      await supervisor.start(next, 'images', signal)
      supervisor.claim(live)
      await supervisor.stopUnused(live)
    }
    expect(events).toEqual(['start 1', 'stop 1', 'start 2', 'stop 2'])
  })

  test('an image returned to a live version is restarted until it runs', async () => {
    const live = createVersion('1')
    failures = 2
    await supervisor.revive(live, 'images', signal)
    expect(events).toEqual([])
    await clock.advance(1_000)
    expect(events).toEqual([])
    await clock.advance(2_000)
    await until(() => events.length > 0 || undefined, { what: 'the image' })
    expect(events).toEqual(['start 1'])
    expect(supervisor.find(live, 'cache')?.status).toBe('running')
    await supervisor.revive(live, 'images', signal)
    expect(events).toEqual(['start 1'])
  })

  test('a service that keeps failing is no longer restarted, which is reported once', async () => {
    const live = createVersion('1')
    failures = Infinity
    await supervisor.revive(live, 'images', signal)
    await until(
      async () => {
        await clock.advance(60_000)
        return supervisor.find(live, 'cache')?.status === 'crashed' || undefined
      },
      { what: 'the crash' },
    )
    await supervisor.revive(live, 'images', signal)
    await clock.advance(600_000)
    expect(crashes).toEqual(['cache'])
  })

  test('an image returned to a live version while it is being stopped is not started', async () => {
    const live = createVersion('1')
    const stopped = new AbortController()
    failures = 1
    await supervisor.revive(live, 'images', stopped.signal)
    stopped.abort()
    await supervisor.stopEnvironment('prj_1')
    await supervisor.revive(live, 'images', stopped.signal)
    await clock.advance(600_000)
    expect(events).toEqual([])
  })

  test('a start during the removal of an exited replica waits for the restart, and one replica remains', async () => {
    const hold = Promise.withResolvers<void>()
    holds.set('1', hold.promise)
    const live = createVersion('1')
    await supervisor.start(live, 'images', signal)
    for (const id of running.keys()) await suite.runtime.stop(id, 0)
    await until(() => supervisor.find(live, 'cache')?.exits === 1 || undefined, { what: 'the exit' })
    const again = supervisor.start(live, 'images', signal)
    await clock.advance(0)
    expect(events).toEqual(['start 1'])
    holds.clear()
    hold.resolve()
    await until(() => events.includes('stop 1') || undefined, { what: 'the end of the exited one' })
    await clock.advance(1_000)
    await again
    expect(events).toEqual(['start 1', 'stop 1', 'start 1'])
    expect([...running.values()]).toEqual(['1'])
  })
})
