import type { DeploymentService } from '../deployments/service.ts'
import type { Clock, Timer } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { isSqliteBusy } from '../store/sqlite.ts'
import type { UsageSampleRow, UsageStore } from '../store/usage-store.ts'

/** What a service has used since the platform started. */
interface UsageTotal {
  project_id: string
  service: string | null
  cpu_seconds: number
  /** Null while it does not run. */
  memory_mb: number | null
}

/** Samples CPU and memory of everything that runs in production. Nothing is sampled of an app that sleeps. */
export interface UsageRecorder {
  listTotals(): UsageTotal[]
  forgetProject(projectId: string): void
  close(): Promise<void>
}

const sampleInterval_ms = 10_000
/** Samples are taken this long after the start of each ten seconds, so that each has exactly one. */
const margin_ms = 100
const downsampleInterval_ms = 60_000
const batchSize = 100

type UsageReading = Awaited<ReturnType<DeploymentService['readAllUsage']>>[number]

interface KnownService extends UsageTotal {
  /** By number. */
  replicas: Map<number, Pick<UsageReading, 'replica_id' | 'cpu_ms'>>
}

/** All replicas of a service together. */
const addReplicas = (rows: readonly UsageSampleRow[]): UsageSampleRow => ({
  ...rows.reduce((sum, one) => ({ ...sum, cpu_percent: sum.cpu_percent + one.cpu_percent, memory_mb: sum.memory_mb + one.memory_mb })),
  replica: 0,
})

export function createUsageRecorder(options: {
  readAllUsage: DeploymentService['readAllUsage']
  isEnabled(): boolean
  store: UsageStore
  clock: Clock
  log: Log
}): UsageRecorder {
  const { store, clock, log } = options
  const services = new Map<string, KnownService>()
  let sampled_at: number | undefined
  let downsampled_at = clock.monotonic()
  let isClosed = false
  let running: Promise<void> = Promise.resolve()

  /** The CPU time since the previous sample. That of a replica which ran before the platform started is unknown at first. */
  const measure = (known: Pick<UsageReading, 'replica_id' | 'cpu_ms'> | undefined, { replica_id, cpu_ms }: UsageReading): number | undefined => {
    if (known?.replica_id === replica_id) return Math.max(0, cpu_ms - known.cpu_ms)
    return sampled_at === undefined ? undefined : cpu_ms
  }

  const sample = async (): Promise<void> => {
    const readings = await options.readAllUsage()
    const now = clock.monotonic()
    for (const service of services.values()) service.memory_mb = null
    const used = new Map<string, UsageSampleRow[]>()
    for (const reading of readings) {
      const { project_id, service, replica, replica_id, cpu_ms, memory_mb } = reading
      const key = `${project_id}\0${service ?? ''}`
      const known = services.get(key) ?? { project_id, service, cpu_seconds: 0, memory_mb: null, replicas: new Map() }
      services.set(key, known)
      const used_ms = measure(known.replicas.get(replica), reading)
      known.replicas.set(replica, { replica_id, cpu_ms })
      known.cpu_seconds += (used_ms ?? 0) / 1000
      known.memory_mb = (known.memory_mb ?? 0) + memory_mb
      if (used_ms === undefined) continue
      const cpu_percent = (100 * used_ms) / Math.max(1, now - (sampled_at ?? now - sampleInterval_ms))
      const row = { project_id, service: service ?? '', replica, ts: Math.floor(clock.now() / 1000), cpu_percent, memory_mb }
      used.set(key, [...(used.get(key) ?? []), row])
    }
    const rows = [...used.values()].flatMap((replicas) => [addReplicas(replicas), ...(replicas.length > 1 ? replicas : [])])
    sampled_at = now
    if (rows.length > 0) store.add(rows)
  }

  const runCycle = async (): Promise<void> => {
    try {
      if (options.isEnabled()) await sample()
      if (clock.monotonic() - downsampled_at >= downsampleInterval_ms) {
        downsampled_at = clock.monotonic()
        while (!isClosed && store.downsample(clock.now() / 1000, batchSize)) await new Promise(setImmediate)
      }
    } catch (error) {
      if (!isSqliteBusy(error)) log.warn('usage_store_failed', { error })
    }
    if (!isClosed) schedule()
  }

  let timer: Timer | undefined
  const schedule = (): void => {
    const wait_ms = sampleInterval_ms - ((clock.now() - margin_ms) % sampleInterval_ms)
    timer = clock.setTimeout(() => (running = runCycle()), wait_ms).unref()
  }
  schedule()

  return {
    listTotals: () => [...services.values()].map(({ replicas: _, ...total }) => total),
    forgetProject(projectId) {
      for (const [key, { project_id }] of services) if (project_id === projectId) services.delete(key)
    },
    async close() {
      isClosed = true
      timer?.cancel()
      await running
    },
  }
}
