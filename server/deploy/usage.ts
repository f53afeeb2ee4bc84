import type { App } from './app.ts'
import type { YardDeps } from './yard.ts'

export interface AppUsage {
  /** Of one core. */
  cpu_percent: number
  memory_mb: number
  memory_limit_mb: number
}

interface Look {
  /** By the monotonic clock. */
  at: number
  instance_id: string
  used: Promise<AppUsage | null>
  under_way: boolean
  /** The last that is known, while `used` is under way. */
  last: AppUsage | null
}

/** An engine may take its time: who asks gets what was known before, and waits longer only when nothing is known. */
const patience_ms = 800
const firstPatience_ms = 1_600
/** However many ask, the engine is asked so seldom. */
const good_for_ms = 2_000
/** One that does not answer is not asked again and again. */
const hung_ms = 30_000
const looksKept = 200

/** What the app of a project uses now; null when it has no instance, or sleeps. */
export function createUsageLooks(deps: YardDeps, find: (projectId: string) => App | undefined): (projectId: string) => Promise<AppUsage | null> {
  const looks = new Map<string, Look>()

  const lookAt = (app: App, instance_id: string, before: Look | undefined): Look => {
    const { project_id, deployment_id, memory_mb: memory_limit_mb, runtime } = app.spec
    const look: Look = {
      at: deps.clock.monotonic(),
      instance_id,
      last: before?.instance_id === instance_id ? before.last : null,
      used: deps
        .runtime(runtime)
        .usage(instance_id)
        .then((used) => (look.last = used && { ...used, memory_limit_mb }))
        .catch((error: unknown) => {
          deps.log.warn('usage_not_known', { deployment: deployment_id, error })
          return look.last
        })
        .finally(() => (look.under_way = false)),
      under_way: true,
    }
    looks.delete(project_id)
    looks.set(project_id, look)
    for (const oldest of looks.keys()) if (looks.size > looksKept) looks.delete(oldest)
    return look
  }

  return async (projectId) => {
    const app = find(projectId)
    const instance = app?.sleep ? undefined : app?.candidate?.instance
    if (!app || !instance) return null
    const known = looks.get(projectId)
    const fresh = known?.instance_id === instance.id && deps.clock.monotonic() - known.at < (known.under_way ? hung_ms : good_for_ms)
    const look = fresh ? known : lookAt(app, instance.id, known)
    const late = new AbortController()
    const used = await Promise.race([look.used, deps.pause(look.last ? patience_ms : firstPatience_ms, late.signal).then(() => look.last)])
    late.abort()
    return used
  }
}
