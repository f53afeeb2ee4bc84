import type { SupervisedApp } from './supervised-app.ts'
import type { SupervisedService } from './supervised-service.ts'
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
  /** Those beyond the first. */
  listReplicas: (app: SupervisedApp) => SupervisedService[] = () => [],
): (projectId: string) => Promise<AppUsage | null> {
  const samples = new Map<string, UsageSample>()

  const takeSample = (app: SupervisedApp, replica_id: string, previous: UsageSample | undefined): UsageSample => {
    const { project_id, deployment_id, memory_mb: memory_limit_mb, runtime } = app.spec
    const ids = [replica_id, ...listReplicas(app).flatMap(({ replica }) => replica?.id ?? [])]
    const sample: UsageSample = {
      taken_at: context.clock.monotonic(),
      replica_id,
      last: previous?.replica_id === replica_id ? previous.last : null,
      usage: Promise.all(ids.map((id) => context.runtime(runtime).usage(id)))
        .then(
          (usages) =>
            (sample.last = addUsages(
              usages.filter((one) => one !== null),
              memory_limit_mb,
            )),
        )
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

/** What the replicas of an app use together, and may use. */
const addUsages = (usages: readonly Pick<AppUsage, 'cpu_percent' | 'memory_mb'>[], memory_limit_mb: number): AppUsage | null =>
  usages.length === 0
    ? null
    : {
        cpu_percent: usages.reduce((sum, one) => sum + one.cpu_percent, 0),
        memory_mb: usages.reduce((sum, one) => sum + one.memory_mb, 0),
        memory_limit_mb: memory_limit_mb * usages.length,
      }

/** Resource use of one running replica of production. */
export interface UsageReading {
  project_id: string
  /** Null: the app itself, or its main service. */
  service: string | null
  /** From 1. */
  replica: number
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
  /** For the main service, those beyond the first. */
  listReplicas: (app: SupervisedApp, service: string | null) => SupervisedService[],
): Promise<UsageReading[]> {
  const running = [...apps]
    .filter(({ spec, sleep }) => spec.target === 'production' && sleep === null)
    .flatMap((app) => [
      { app, service: null, replica: 1, id: app.candidate?.replica?.id },
      ...[null, ...app.spec.services.map(({ config }) => config.name)].flatMap((service) =>
        listReplicas(app, service ?? app.spec.main_service).map(({ spec: { replica }, replica: running }) => ({
          app,
          service,
          replica,
          id: running?.id,
        })),
      ),
    ])
  const readings: UsageReading[] = []
  for (let at = 0; at < running.length; at += batchSize)
    await Promise.all(
      running.slice(at, at + batchSize).map(async ({ app: { spec }, service, replica, id }) => {
        if (id === undefined) return
        const usage = await withTimeout(
          context.clock,
          readTimeout_ms,
          context
            .runtime(spec.runtime)
            .usage(id, { isPassive: true })
            .catch(() => null),
        )
        if (usage) readings.push({ project_id: spec.project_id, service, replica, replica_id: id, cpu_ms: usage.cpu_ms, memory_mb: usage.memory_mb })
      }),
    )
  return readings
}
