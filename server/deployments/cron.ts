import { Cron } from 'croner'
import type { CronRun } from '../contract/services.ts'
import { isoTime, type Timer } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { findLastScheduledRun, insertCronRun, interruptCronRuns, updateCronRun } from '../store/cron-runs.ts'
import { listCurrentDeployments } from '../store/deployments.ts'
import type { DeploymentContext } from './context.ts'
import type { AppSpec } from './supervised-app.ts'
import type { ServiceSpec } from './service-spec.ts'
import type { Supervisor } from './supervisor.ts'

/** Runs the cron services of production on their schedules. */
export interface CronScheduler {
  /** Applies the live version of a project. */
  refresh(projectId: string): void
  /** Runs a service now; resolves when the run has started. */
  runNow(spec: AppSpec, service: ServiceSpec): Promise<CronRun>
  nextRunAt(service: ServiceSpec): Date | null
  /** Ends the runs of the previous run of the platform. */
  recover(): Promise<void>
  /** Stops timers and running runs. */
  close(): Promise<void>
}

/** A timer of this length fires once more instead of a longer one, because the clock may be set meanwhile. */
const longestTimer_ms = 60_000

export function createCronScheduler(context: DeploymentContext, supervisor: Supervisor): CronScheduler {
  const timers = new Map<string, { definition: string; timer: Timer }>()
  const running = new Map<string, Promise<void>>()
  const closing = new AbortController()
  const getKey = (spec: AppSpec, service: ServiceSpec) => `${spec.project_id}\0${service.config.name}`
  const now = () => isoTime(context.clock.now())

  const findNext = ({ config }: ServiceSpec, after: Date): Date | null =>
    config.schedule === null ? null : new Cron(config.schedule, { timezone: config.time_zone ?? 'UTC', paused: true }).nextRun(after)

  const createRun = (spec: AppSpec, service: ServiceSpec, run: Pick<CronRun, 'trigger' | 'status' | 'scheduled_at'> & Partial<CronRun>): CronRun => ({
    id: newId('run'),
    service: service.config.name,
    started_at: null,
    finished_at: null,
    exit_code: null,
    message: null,
    deployment_id: spec.deployment_id,
    ...run,
  })

  /** Stores a run that is due and starts it, unless the previous one still runs. */
  const start = async (spec: AppSpec, service: ServiceSpec, trigger: CronRun['trigger'], scheduled_at: string): Promise<CronRun | undefined> => {
    const key = getKey(spec, service)
    const isBusy = running.has(key)
    const started_at = now()
    const run = createRun(spec, service, {
      trigger,
      scheduled_at,
      ...(isBusy ? { status: 'skipped', finished_at: started_at, message: 'The previous run had not ended.' } : { status: 'running', started_at }),
    })
    const done = Promise.withResolvers<void>()
    if (!isBusy) running.set(key, done.promise)
    const isNew = await context.store.db
      .write((tx) => {
        tx.publish({ type: 'project_changed', id: spec.project_id })
        return insertCronRun(tx, { project_id: spec.project_id, ...run })
      })
      .catch((error: unknown) => {
        context.log.error('cron_run_store_failed', { project: spec.project_id, service: service.config.name, error })
        return false
      })
    if (isBusy || !isNew) {
      if (!isBusy) running.delete(key)
      done.resolve()
      return isNew ? run : undefined
    }
    void execute(spec, service, run).finally(() => {
      running.delete(key)
      done.resolve()
    })
    return run
  }

  const execute = async (spec: AppSpec, service: ServiceSpec, run: CronRun): Promise<void> => {
    let outcome: Pick<CronRun, 'status' | 'exit_code' | 'message'>
    try {
      const exit = await supervisor.runCron(spec, service, closing.signal)
      const isSuccess = exit.code === 0 && !exit.out_of_memory
      const message = isSuccess ? null : exit.out_of_memory ? 'It used more memory than its limit.' : `It exited with code ${exit.code ?? 'unknown'}.`
      outcome = { status: isSuccess ? 'succeeded' : 'failed', exit_code: exit.code, message }
    } catch (error) {
      outcome = { status: 'failed', exit_code: null, message: error instanceof Error ? error.message : 'It could not be started.' }
    }
    // An interrupted run is ended by the next start of the platform.
    if (closing.signal.aborted) return
    await context.store.db
      .write((tx) => {
        updateCronRun(tx, run.id, { ...outcome, finished_at: now() })
        tx.publish({ type: 'project_changed', id: spec.project_id })
      })
      .catch((error: unknown) => context.log.error('cron_run_store_failed', { run: run.id, error }))
  }

  /** Waits for the next time after `from`, which is when the last run was due. */
  const schedule = (spec: AppSpec, service: ServiceSpec, from: Date): void => {
    const key = getKey(spec, service)
    const next = findNext(service, from)
    timers.get(key)?.timer.cancel()
    timers.delete(key)
    if (!next || closing.signal.aborted) return
    const wait_ms = Math.max(0, next.getTime() - context.clock.now())
    const fire = async () => {
      if (next.getTime() > context.clock.now()) return schedule(spec, service, from)
      const latest = findLatestDue(service, next)
      // The machine slept, or Homeport was closed: only the latest of several missed times runs, the others count as one missed run.
      if (latest.getTime() > next.getTime()) await recordMissed(spec, service, next)
      await start(spec, service, 'schedule', latest.toISOString())
      schedule(spec, service, latest)
    }
    const timer = context.clock.setTimeout(() => void fire(), Math.min(wait_ms, longestTimer_ms)).unref()
    timers.set(key, { definition: service.request.definition + spec.deployment_id, timer })
  }

  const findLatestDue = (service: ServiceSpec, first: Date): Date => {
    let latest = first
    for (let next = findNext(service, latest); next && next.getTime() <= context.clock.now(); next = findNext(service, next)) latest = next
    return latest
  }

  const recordMissed = async (spec: AppSpec, service: ServiceSpec, due: Date): Promise<void> => {
    const run = createRun(spec, service, {
      trigger: 'schedule',
      status: 'missed',
      scheduled_at: due.toISOString(),
      finished_at: now(),
      message: 'Homeport or the project was stopped when this run was due.',
      deployment_id: null,
    })
    await context.store.db.write((tx) => insertCronRun(tx, { project_id: spec.project_id, ...run }))
  }

  const refreshService = async (spec: AppSpec, service: ServiceSpec): Promise<void> => {
    const current = timers.get(getKey(spec, service))
    if (current?.definition === service.request.definition + spec.deployment_id) return
    const { last, live_since } = await context.store.db.read((tx) => ({
      last: findLastScheduledRun(tx, spec.project_id, service.config.name),
      live_since: listCurrentDeployments(tx, spec.project_id).find((row) => row.id === spec.deployment_id)?.finished_at,
    }))
    if (closing.signal.aborted) return
    const from = Math.max(Date.parse(last?.scheduled_at ?? '') || 0, Date.parse(live_since ?? '') || 0) || context.clock.now()
    const next = findNext(service, new Date(from))
    const isMissed = next !== null && next.getTime() <= context.clock.now()
    if (isMissed) await recordMissed(spec, service, next)
    schedule(spec, service, new Date(isMissed ? context.clock.now() : from))
  }

  return {
    refresh(projectId) {
      const live = supervisor.findEnvironment(projectId)
      const services = live?.spec.services.filter(({ config }) => config.kind === 'cron') ?? []
      const wanted = new Set(services.map((service) => (live ? getKey(live.spec, service) : '')))
      for (const [key, { timer }] of timers) {
        if (!key.startsWith(`${projectId}\0`) || wanted.has(key)) continue
        timer.cancel()
        timers.delete(key)
      }
      for (const service of services)
        if (live)
          void refreshService(live.spec, service).catch((error: unknown) => context.log.error('cron_schedule_failed', { project: projectId, error }))
    },
    async runNow(spec, service) {
      const run = await start(spec, service, 'manual', now())
      if (!run) throw new Error('The run could not be stored.')
      return run
    },
    nextRunAt: (service) => findNext(service, new Date(context.clock.now())),
    async recover() {
      await context.store.db.write((tx) => interruptCronRuns(tx, now(), 'Homeport stopped during this run.'))
    },
    async close() {
      closing.abort()
      for (const { timer } of timers.values()) timer.cancel()
      timers.clear()
      await Promise.all(running.values())
    },
  }
}
