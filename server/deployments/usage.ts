import type { SupervisedApp } from './supervised-app.ts'
import { withTimeout } from '../lib/clock.ts'
import type { DeploymentContext } from './context.ts'

export interface AppUsage {
  /** Percentage of one core. */
  cpu_percent: number
  memory_mb: number
  memory_limit_mb: number
}

interface UsageSample {
  /** By the monotonic clock. */
  taken_at: number
  replica_id: string
  usage: Promise<AppUsage | null>
  is_pending: boolean
  /** The last known value, while `used` is in progress. */
  last: AppUsage | null
}

/** Docker may be slow: callers get the last known value after this time and wait longer only when there is none. */
const staleWait_ms = 800
const firstWait_ms = 1_600
/** A value this recent is reused, regardless of the number of callers. */
const fresh_ms = 2_000
/** A runtime that does not respond is not asked again before this time. */
const hungRetry_ms = 30_000
const maxSamples = 200

/** Current resource use of a project's app; null when it has no replica or sleeps. */
export function createUsageReader(
  context: DeploymentContext,
  findApp: (projectId: string) => SupervisedApp | undefined,
): (projectId: string) => Promise<AppUsage | null> {
  const samples = new Map<string, UsageSample>()

  const takeSample = (app: SupervisedApp, replica_id: string, previous: UsageSample | undefined): UsageSample => {
    const { project_id, deployment_id, memory_mb: memory_limit_mb, runtime } = app.spec
    const sample: UsageSample = {
      taken_at: context.clock.monotonic(),
      replica_id,
      last: previous?.replica_id === replica_id ? previous.last : null,
      usage: context
        .runtime(runtime)
        .usage(replica_id)
        .then((usage) => (sample.last = usage && { cpu_percent: usage.cpu_percent, memory_mb: usage.memory_mb, memory_limit_mb }))
        .catch((error: unknown) => {
          context.log.warn('usage_read_failed', { deployment: deployment_id, error })
          return sample.last
        })
        .finally(() => (sample.is_pending = false)),
      is_pending: true,
    }
    samples.delete(project_id)
    samples.set(project_id, sample)
    for (const oldest of samples.keys()) if (samples.size > maxSamples) samples.delete(oldest)
    return sample
  }

  return async (projectId) => {
    const app = findApp(projectId)
    const replica = app?.sleep ? undefined : app?.candidate?.replica
    if (!app || !replica) return null
    const known = samples.get(projectId)
    const isFresh = known?.replica_id === replica.id && context.clock.monotonic() - known.taken_at < (known.is_pending ? hungRetry_ms : fresh_ms)
    const sample = isFresh ? known : takeSample(app, replica.id, known)
    const timeout = new AbortController()
    const usage = await Promise.race([sample.usage, context.pause(sample.last ? staleWait_ms : firstWait_ms, timeout.signal).then(() => sample.last)])
    timeout.abort()
    return usage
  }
}

/** Resource use of one running replica of production. */
export interface UsageReading {
  project_id: string
  /** Null: the app itself, or its main service. */
  service: string | null
  replica_id: string
  /** CPU time of the processes that run now, since their start. */
  cpu_ms: number
  memory_mb: number
}

/** Replicas that are asked at once. */
const batchSize = 8
const readTimeout_ms = 5_000

/** Reads the resource use of everything that runs in production. A replica that does not answer in time is left out. */
export async function readAllUsage(
  context: DeploymentContext,
  apps: Iterable<SupervisedApp>,
  findServiceReplica: (app: SupervisedApp, name: string) => string | undefined,
): Promise<UsageReading[]> {
  const running = [...apps]
    .filter(({ spec, sleep }) => spec.target === 'production' && sleep === null)
    .flatMap((app) => [
      { app, service: null, id: app.candidate?.replica?.id },
      ...app.spec.services.map(({ config }) => ({ app, service: config.name, id: findServiceReplica(app, config.name) })),
    ])
  const readings: UsageReading[] = []
  for (let at = 0; at < running.length; at += batchSize)
    await Promise.all(
      running.slice(at, at + batchSize).map(async ({ app: { spec }, service, id }) => {
        if (id === undefined) return
        const usage = await withTimeout(
          context.clock,
          readTimeout_ms,
          context
            .runtime(spec.runtime)
            .usage(id, { isPassive: true })
            .catch(() => null),
        )
        if (usage) readings.push({ project_id: spec.project_id, service, replica_id: id, cpu_ms: usage.cpu_ms, memory_mb: usage.memory_mb })
      }),
    )
  return readings
}
