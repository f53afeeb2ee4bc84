import type { RuntimeName, RuntimeState } from '../contract/deployments.ts'
import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import type { Route } from '../edge/edge.ts'
import { isoTime } from '../lib/clock.ts'
import { type Exit, type FoundInstance, type Runtime, StartFailure } from '../runtime/runtime.ts'
import { updatePreview } from '../store/previews.ts'
import { findProject } from '../store/projects.ts'
import { type App, type AppSpec, type Candidate, logOf } from './app.ts'
import { createLogWriter, type LogWriter } from './log-writer.ts'
import { requireIsolation } from './isolation.ts'
import { untilReady, wideListeners } from './readiness.ts'
import { createSleepWatch } from './sleep.ts'
import { type AppUsage, createUsageLooks } from './usage.ts'
import type { YardDeps } from './yard.ts'

export interface Apps {
  /** `tap` hears the app's output too, so that a failed start can show it in the build log. */
  launch(spec: AppSpec, signal: AbortSignal, tap?: OutputTap): Promise<Candidate>
  /** Waits until a candidate answers, and returns what is to get the traffic: it may have been started anew. `note` hears of other ports. */
  untilServing(candidate: Candidate, signal: AbortSignal, note: (line: string) => void, tap?: OutputTap): Promise<Candidate>
  /** Stops a candidate that will not be promoted. */
  withdraw(candidate: Candidate): Promise<void>
  /**
   * Gives it the traffic at once. The answer: `commit` makes it stay and resolves when the one before is drained and stopped;
   * `revert` puts the one before back, and leaves the candidate to be withdrawn.
   */
  promote(candidate: Candidate): { commit(): Promise<void>; revert(): Promise<void> }
  /**
   * Stops what serves the slot of a candidate that cannot start beside it, because both listen on one fixed port; visitors wait.
   * undefined when it has no such port.
   */
  stepAside(spec: AppSpec): Promise<{ listen_port: number; resume(): Promise<void> } | undefined>
  /** Takes over a container that outlived the platform, asleep when it is frozen; undefined when it is gone. */
  adopt(spec: AppSpec, found: FoundInstance): Promise<Candidate | undefined>
  /** Brings a current deployment back after a restart, with the same patience as after an exit; one that slept sleeps on. */
  revive(spec: AppSpec, asleep: boolean): void
  /** Somebody asked for an app that sleeps. */
  wake(projectId: string, deploymentId: string): void
  /** The project changed: one that is to stay warm is woken. */
  refresh(projectId: string): void
  /** Stops everything of a project, or all there is; the edge is told by the caller. */
  stopProject(projectId: string): Promise<void>
  /** Stops what serves the preview of a branch. */
  stopPreview(projectId: string, branch: string): Promise<void>
  stopAll(runtimes: readonly RuntimeName[]): Promise<void>
  /** Whether it looks after this deployment: it serves, or is being brought back. */
  has(deploymentId: string): boolean
  /** What runs as a process of this machine, and listens now on more than loopback; `ports` is undefined where the system does not tell. */
  listening(): Promise<{ project_id: string; branch: string | null; ports: number[] | undefined }[]>
  /** What the app of a project uses now; null when nothing runs. */
  usage(projectId: string): Promise<AppUsage | null>
  /** The machine slept. */
  resync(): void
  /** Forgets timers without stopping anything: the platform ends, apps go on. */
  detach(): void
}

export type OutputTap = (stream: 'stdout' | 'stderr', line: string) => void

const stopGrace_ms = 10_000
/** What is under way at an app that has just ended hears that from its own connection, and answers for itself. */
const ended_ms = 1_000
/** What was stored may be on its way to a slow client for long: that an app wakes is no reason to cut it. */
const stored_ms = 3_600_000
/** An end so soon after a thaw happened while it was frozen: no failure to start, and nothing to wait for. */
const thaw_ms = 2_000
/** At the platform's own end there is less time: ten seconds for everything. */
const endGrace_ms = 4_000

/** Keeps the apps that serve alive: one per project and target (and branch), each with its output, back-off and route. */
export function createApps(deps: YardDeps): Apps {
  const apps = new Map<string, App>()
  const writers = new Map<string, LogWriter>()

  const slotOf = (spec: Pick<AppSpec, 'project_id' | 'target' | 'branch'>) =>
    `${spec.project_id}\0${spec.target}\0${spec.target === 'preview' ? (spec.branch ?? '') : ''}`
  const production = (projectId: string) => apps.get(slotOf({ project_id: projectId, target: 'production', branch: null }))

  const writerOf = (spec: AppSpec): LogWriter => {
    const stream = logOf(spec)
    let writer = writers.get(stream)
    if (!writer) {
      writer = createLogWriter({ ...deps, logs: deps.store.logs, stream, keep_head_bytes: 0, keep_tail_bytes: 20_000_000 })
      writers.set(stream, writer)
    }
    return writer
  }

  const tell = (spec: AppSpec, state: RuntimeState, exit_code: number | null = null) => {
    const writer = writerOf(spec)
    writer.record({ state, ts: isoTime(deps.clock.now()), exit_code, deployment_id: spec.deployment_id })
    writer.flush()
  }

  const runtimeOf = (spec: AppSpec): Runtime => deps.runtime(spec.runtime)

  /** Output goes to the project's log under the deployment's name; the end is told once, after the last line. */
  const observe = (spec: AppSpec, tap?: OutputTap) => {
    const writer = writerOf(spec)
    const tail = `"deployment_id":"${spec.deployment_id}"`
    const fields = { stdout: `"stream":"stdout",${tail}`, stderr: `"stream":"stderr",${tail}` }
    const ended = Promise.withResolvers<Exit>()
    return {
      ended: ended.promise,
      observer: {
        onLine: (stream: 'stdout' | 'stderr', line: string) => {
          writer.line(fields[stream], line, spec.mask)
          tap?.(stream, line)
        },
        onExit: (exit: Exit) => {
          writer.flush()
          ended.resolve(exit)
        },
      },
    }
  }

  const allowed = (spec: AppSpec) =>
    deps.store.db.read((tx) => {
      const project = findProject(tx, spec.project_id)
      if (project) requireIsolation(tx, project, runtimeOf(spec))
    })

  const launch = async (spec: AppSpec, signal: AbortSignal, tap?: OutputTap): Promise<Candidate> => {
    if (spec.artifact.kind === 'static') return { spec, instance: null, ended: new Promise(() => {}) }
    await allowed(spec)
    const { ended, observer } = observe(spec, tap)
    tell(spec, 'starting')
    const instance = await runtimeOf(spec).start({
      project_id: spec.project_id,
      deployment_id: spec.deployment_id,
      artifact: spec.artifact,
      listen_port: spec.listen_port,
      variables: spec.variables,
      memory_mb: spec.memory_mb,
      signal,
      ...observer,
    })
    return { spec, instance, ended }
  }

  const halt = async (candidate: Candidate | null, grace_ms = stopGrace_ms): Promise<void> => {
    if (!candidate?.instance) return
    await runtimeOf(candidate.spec).stop(candidate.instance.id, grace_ms)
    tell(candidate.spec, 'stopped')
  }

  const untilServing: Apps['untilServing'] = (candidate, signal, note, tap) =>
    untilReady(deps, candidate, signal, note, { launch: (spec) => launch(spec, signal, tap), withdraw: halt })

  const routeTo = (candidate: Candidate): Route => {
    const owner = deps.routes.owner(candidate.spec)
    const { artifact } = candidate.spec
    if (artifact.kind === 'static') return { ...owner, kind: 'static', directory: artifact.directory, spa_fallback: artifact.spa_fallback }
    if (!candidate.instance) throw new Error('A candidate without an instance cannot be routed.')
    return { ...owner, kind: 'upstream', host: candidate.instance.host, port: candidate.instance.port }
  }

  /** Puts the route of what the app is now, unless another has its traffic. */
  const show = (app: App): void => {
    if (app.superseded) return
    if (app.sleep) void deps.routes.set(app.spec, { ...deps.routes.owner(app.spec), kind: 'asleep' })
    else if (app.candidate) void deps.routes.set(app.spec, routeTo(app.candidate), stored_ms)
    else starts(app)
  }

  const starts = (app: App): void => {
    if (!app.superseded) deps.routes.page(app.spec, 'starting', app.sleep ? stored_ms : ended_ms)
  }

  /** Waits for the end of what serves a slot, and brings it back; what ends in its sleep is started by the next request. */
  const watch = (app: App) => {
    const { candidate } = app
    const { instance } = candidate ?? {}
    if (!candidate || !instance) return
    void candidate.ended.then((exit) => {
      if (app.stopping.signal.aborted || app.candidate !== candidate || app.sleep?.stopping) return
      app.candidate = null
      tell(app.spec, exit.out_of_memory ? 'oom' : 'exited', exit.code)
      const now = deps.clock.monotonic()
      // What is left of it (a dead container) goes before the next one starts.
      const gone = runtimeOf(app.spec)
        .stop(instance.id, 0)
        .catch((error: unknown) => deps.log.warn('leftover_not_removed', { deployment: app.spec.deployment_id, error }))
      if (app.sleep) {
        app.sleep.depth = 'stopped'
        app.sleep.settled = gone
        return
      }
      app.exits = app.exits.filter((at) => now - at < limits.restart.within_ms)
      if (now - app.thawed_at > thaw_ms) app.exits.push(now)
      void gone.then(() => bringBack(app))
    })
  }

  /** One attempt at a time: who asks meanwhile waits for the same. */
  const bringBack = (app: App): Promise<void> =>
    (app.returning ??= startAgain(app).finally(() => {
      app.returning = null
    }))

  const startAgain = async (app: App): Promise<void> => {
    const { signal } = app.stopping
    if (signal.aborted) return
    if (app.exits.length >= limits.restart.exits) {
      if (!app.superseded) deps.routes.page(app.spec, 'crashed', ended_ms)
      if (app.spec.target === 'production') await deps.crashed(app.spec.project_id, app.spec.deployment_id)
      return
    }
    show(app)
    const wait = app.exits.length === 0 ? 0 : Math.min(limits.restart.first_ms * 2 ** (app.exits.length - 1), limits.restart.max_ms)
    if (!(await deps.pause(wait, signal))) return
    let candidate: Candidate | undefined
    try {
      candidate = await launch(app.spec, signal)
      const { observer } = observe(app.spec)
      candidate = await untilServing(candidate, signal, (line) => observer.onLine('stderr', line))
      signal.throwIfAborted()
      app.candidate = candidate
      app.spec = candidate.spec
      show(app)
      if (candidate.instance) tell(app.spec, 'running')
      watch(app)
    } catch (error) {
      if (candidate) await halt(candidate).catch(() => {})
      if (signal.aborted) return
      deps.log.warn('app_not_back', { deployment: app.spec.deployment_id, error })
      // The owner of the app looks for the reason in its log.
      if (error instanceof Problem || error instanceof StartFailure) observe(app.spec).observer.onLine('stderr', `Not started: ${error.message}`)
      const { available } = await runtimeOf(app.spec).probe()
      // An engine that is away is nobody's crash: it is asked again soon.
      if (available) app.exits = [...app.exits, deps.clock.monotonic()]
      else if (!(await deps.pause(2_000, signal))) return
      return startAgain(app)
    }
  }

  const install = (spec: AppSpec, candidate: Candidate | null): App => {
    const app: App = {
      spec,
      candidate,
      returning: null,
      exits: [],
      stopping: new AbortController(),
      always_warm: spec.always_warm,
      sleep: null,
      thawed_at: -Infinity,
      superseded: false,
    }
    apps.set(slotOf(spec), app)
    watch(app)
    return app
  }

  /** Writes down whether a project sleeps, as it is at that moment: several at once end with the truth. */
  const noteCold = (place: Pick<AppSpec, 'project_id' | 'target' | 'branch'>): void => {
    const { project_id, target, branch } = place
    deps.store.db
      .write((tx) => {
        const is_cold = apps.get(slotOf(place))?.sleep ? 1 : 0
        if (target === 'production') tx.sqlRun('UPDATE projects SET is_cold = ? WHERE id = ?', is_cold, project_id)
        else updatePreview(tx, project_id, branch ?? '', { is_cold })
      })
      .then(() => deps.bus.emit(`project:${project_id}`))
      .catch((error: unknown) => deps.log.warn('cold_not_noted', { project: project_id, error }))
  }

  const sleep = createSleepWatch(deps, { all: () => apps.values(), show, starts, tell, bringBack: (app) => bringBack(app), noteCold })

  /** Those that drain or are being stopped. They have no slot any more, and must not outlive the platform all the same. */
  const leaving = new Set<Candidate>()

  /** What is over stays so: an engine that is away now stops it when it is back, also after a restart. */
  const haltForGood = (candidate: Candidate): Promise<void> =>
    halt(candidate).catch(async (error: unknown) => {
      const { deployment_id, runtime } = candidate.spec
      deps.log.warn('instance_stops_later', { deployment: deployment_id, error })
      if (candidate.instance) await deps.cleanLater({ kind: 'instance', runtime, instance_id: candidate.instance.id })
    })

  const stopApp = async (app: App, stop = haltForGood): Promise<void> => {
    app.stopping.abort()
    // An attempt that is under way hears of the abort, and ends what it has started.
    await app.returning?.catch(() => {})
    const { candidate } = app
    app.candidate = null
    if (!candidate) {
      if (app.sleep) tell(app.spec, 'stopped')
      return
    }
    leaving.add(candidate)
    await app.sleep?.settled
    await stop(candidate).finally(() => leaving.delete(candidate))
  }

  return {
    launch,
    untilServing,
    withdraw: (candidate) => halt(candidate),
    promote(candidate) {
      const slot = slotOf(candidate.spec)
      const old = apps.get(slot)
      if (old) old.superseded = true
      const drained = deps.routes.set(candidate.spec, routeTo(candidate), limits.drain_ms)
      return {
        async commit() {
          install(candidate.spec, candidate)
          old?.stopping.abort()
          if (old?.candidate) leaving.add(old.candidate)
          if (candidate.instance) tell(candidate.spec, 'running')
          await drained
          if (old) await stopApp(old)
        },
        async revert() {
          // The page that stands in its place is put right by the end of the deployment.
          if (!old) return deps.routes.page(candidate.spec, 'building', 0)
          old.superseded = false
          show(old)
        },
      }
    },
    async stepAside(spec) {
      const app = apps.get(slotOf(spec))
      const { candidate } = app ?? {}
      const listen_port = app?.spec.listen_port ?? null
      if (!app || !candidate?.instance || listen_port === null) return undefined
      await app.sleep?.settled
      app.candidate = null
      if (app.sleep) app.sleep.depth = 'stopped'
      else starts(app)
      await halt(candidate)
      return { listen_port, resume: async () => (app.sleep ? undefined : bringBack(app)) }
    },
    async adopt(spec, found) {
      const { ended, observer } = observe(spec)
      const instance = await runtimeOf(spec).adopt(found, observer)
      if (!instance) return undefined
      const candidate = { spec, instance, ended }
      const app = install(spec, candidate)
      if (found.frozen) sleep.resume(app, 'frozen')
      show(app)
      noteCold(spec)
      if (app.always_warm) sleep.wake(app, 'setting')
      return candidate
    },
    revive(spec, asleep) {
      const app = install(spec, null)
      if (asleep) {
        sleep.resume(app, 'stopped')
        return show(app)
      }
      noteCold(spec)
      void bringBack(app).catch((error: unknown) => deps.log.error('app_not_revived', { deployment: spec.deployment_id, error }))
    },
    wake(projectId, deploymentId) {
      for (const app of apps.values()) if (app.spec.project_id === projectId && app.spec.deployment_id === deploymentId) sleep.wake(app, 'visit')
    },
    refresh(projectId) {
      const app = production(projectId)
      if (!app) return
      app.always_warm = deps.store.db.readNow((tx) => findProject(tx, projectId))?.always_warm === 1
      if (app.always_warm) sleep.wake(app, 'setting')
    },
    async stopProject(projectId) {
      const mine = [...apps].filter(([, app]) => app.spec.project_id === projectId)
      for (const [slot] of mine) apps.delete(slot)
      noteCold({ project_id: projectId, target: 'production', branch: null })
      await Promise.all(mine.map(([, app]) => stopApp(app)))
    },
    async stopPreview(projectId, branch) {
      const slot = slotOf({ project_id: projectId, target: 'preview', branch })
      const app = apps.get(slot)
      apps.delete(slot)
      if (app) await stopApp(app)
      const stream = logOf({ project_id: projectId, target: 'preview', branch })
      writers.get(stream)?.flush()
      writers.delete(stream)
    },
    async stopAll(names) {
      const mine = [...apps].filter(([, app]) => names.includes(app.spec.runtime))
      for (const [slot] of mine) apps.delete(slot)
      const late = [...leaving].filter((candidate) => names.includes(candidate.spec.runtime))
      await Promise.all([
        ...mine.map(([, app]) => stopApp(app, (candidate) => halt(candidate, endGrace_ms))),
        ...late.map((candidate) => halt(candidate, 0)),
      ])
    },
    listening: () => wideListeners(apps.values()),
    usage: createUsageLooks(deps, production),
    has: (deploymentId) => [...apps.values()].some((app) => app.spec.deployment_id === deploymentId),
    resync: () => sleep.resync(),
    detach() {
      sleep.close()
      for (const app of apps.values()) app.stopping.abort()
      for (const writer of writers.values()) writer.flush()
    },
  }
}
