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
  replica_id: string
  cpu_ms: number
}

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
  const measure = (known: KnownService | undefined, { replica_id, cpu_ms }: UsageReading): number | undefined => {
    if (known?.replica_id === replica_id) return Math.max(0, cpu_ms - known.cpu_ms)
    return sampled_at === undefined ? undefined : cpu_ms
  }

  const sample = async (): Promise<void> => {
    const readings = await options.readAllUsage()
    const now = clock.monotonic()
    const rows: UsageSampleRow[] = []
    for (const service of services.values()) service.memory_mb = null
    for (const reading of readings) {
      const { project_id, service, replica_id, cpu_ms, memory_mb } = reading
      const key = `${project_id}\0${service ?? ''}`
      const known = services.get(key)
      const used_ms = measure(known, reading)
      services.set(key, { project_id, service, replica_id, cpu_ms, memory_mb, cpu_seconds: (known?.cpu_seconds ?? 0) + (used_ms ?? 0) / 1000 })
      if (used_ms === undefined) continue
      const cpu_percent = (100 * used_ms) / Math.max(1, now - (sampled_at ?? now - sampleInterval_ms))
      rows.push({ project_id, service: service ?? '', ts: Math.floor(clock.now() / 1000), cpu_percent, memory_mb })
    }
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
    listTotals: () => [...services.values()].map(({ replica_id: _, cpu_ms: __, ...total }) => total),
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
