import type { RuntimeState } from '../contract/deployments.ts'
import { limits } from '../contract/limits.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import {
  BuildFailure,
  CommandFailure,
  type Endpoint,
  type ExistingReplica,
  type Replica,
  type ReplicaExit,
  type ReplicaObserver,
  StartFailure,
} from '../runtime/runtime.ts'
import type { DeploymentContext } from './context.ts'
import { waitUntilHealthy } from './health-check.ts'
import { createServiceHealthRequest } from './health-request.ts'
import type { ReplicaSpec } from './service-spec.ts'

/*
 *   starting ──▶ running ──▶ completed     exit code 0 of a service that restarts on failure alone
 *      ▲            │
 *      └─ back-off ─┴──────▶ crashed       five exits within five minutes
 */
export type ServiceStatus = 'starting' | 'running' | 'completed' | 'crashed' | 'stopped'

export type ServiceContext = Pick<DeploymentContext, 'runtime' | 'pause' | 'clock' | 'log' | 'scheduleCleanup'>

/** The functions that a service needs from its supervisor. */
export interface ServiceHooks {
  runtime: RuntimeName
  project_id: string
  /** Variables with the addresses of services that run already. */
  getAddresses(): Record<string, string>
  observe(): { exited: Promise<ReplicaExit>; observer: ReplicaObserver }
  recordState(state: RuntimeState, exitCode?: number | null): void
  /** The replica or the status changed. */
  onChange(): void
  /** It keeps exiting and is no longer restarted. */
  onCrash(): void
}

export interface SupervisedService {
  readonly spec: ReplicaSpec
  readonly status: ServiceStatus
  readonly replica: Replica | null
  /** The address where it answers HTTP; null if that was not checked. */
  readonly endpoint: Endpoint | null
  /** By the monotonic clock; null while it does not run. */
  readonly running_since: number | null
  /** Unexpected exits since it was last started deliberately. */
  readonly exits: number
  readonly last_exit: ReplicaExit | null
  /** Starts it and resolves once it is ready; concurrent callers wait for the same start. Throws when the first start fails. */
  start(signal: AbortSignal): Promise<void>
  /**
   * Starts it for a live version: a failure is retried like an exit. Resolves after the first attempt. Does nothing for a crashed service,
   * or one that is being restarted.
   */
  revive(signal: AbortSignal): Promise<void>
  /** Takes over a replica of a previous run of the platform; false when it no longer exists. */
  adopt(existing: ExistingReplica): Promise<boolean>
  freeze(): Promise<void>
  thaw(): Promise<void>
  stop(grace_ms: number): Promise<void>
  /** Leaves the replica running, when the platform ends. */
  detach(): void
}

const healthInterval_ms = 500

export function createSupervisedService(context: ServiceContext, spec: ReplicaSpec, hooks: ServiceHooks): SupervisedService {
  const runtime = context.runtime(hooks.runtime)
  const { config } = spec
  const stopController = new AbortController()
  let status: ServiceStatus = 'stopped'
  let replica: Replica | null = null
  let endpoint: Endpoint | null = null
  let runningSince: number | null = null
  let lastExit: ReplicaExit | null = null
  let recentExits: number[] = []
  let exits = 0
  let isFrozen = false
  let starting: Promise<void> | null = null

  const setStatus = (next: ServiceStatus) => {
    status = next
    hooks.onChange()
  }

  /** Starts a replica and waits until it is ready. */
  const launch = async (signal: AbortSignal): Promise<void> => {
    if (spec.artifact.kind === 'static')
      throw new StartFailure(
        'start_failed',
        `The service “${config.name}” is a static site, which has no process.`,
        'Give it a command, or make it the main service.',
      )
    setStatus('starting')
    const { exited, observer } = hooks.observe()
    hooks.recordState('starting')
    const started = await runtime.start({
      project_id: hooks.project_id,
      deployment_id: spec.owner_id,
      artifact: spec.artifact,
      listen_port: spec.listen_port ?? null,
      ...(config.ports && { ports: config.ports }),
      variables: { ...spec.variables, ...hooks.getAddresses() },
      memory_mb: spec.memory_mb,
      cpus: spec.cpus,
      ...(spec.node_labels && { node_labels: spec.node_labels }),
      ...(spec.request && { service: spec.request }),
      ...(spec.replica > 1 && { replica: spec.replica }),
      signal,
      ...observer,
    })
    try {
      endpoint = await waitUntilReady(context, spec, started, exited, signal)
      signal.throwIfAborted()
    } catch (error) {
      await runtime.stop(started.id, 0)
      throw nameService(error, config.name)
    }
    take(started, exited)
  }

  const take = (started: Replica, exited: Promise<ReplicaExit>): void => {
    replica = started
    runningSince = context.clock.monotonic()
    hooks.recordState('running')
    setStatus('running')
    void exited.then((exit) => {
      if (stopController.signal.aborted || replica !== started) return
      handleExit(started, exit)
    })
  }

  const handleExit = (ended: Replica, exit: ReplicaExit): void => {
    replica = null
    runningSince = null
    lastExit = exit
    isFrozen = false
    hooks.recordState(exit.out_of_memory ? 'oom' : 'exited', exit.code)
    const removed = runtime.stop(ended.id, 0).catch((error: unknown) => context.log.warn('leftover_cleanup_failed', { service: config.name, error }))
    if (config.restart === 'on_failure' && exit.code === 0) return setStatus('completed')
    recordExit()
    startAgain(removed)
  }

  const recordExit = (): void => {
    const now = context.clock.monotonic()
    exits++
    recentExits = [...recentExits.filter((at) => now - at < limits.restart.within_ms), now]
  }

  /** From this moment on, other callers wait for this start instead of starting another. */
  const startAgain = (after?: Promise<void>): void => {
    starting = Promise.resolve(after)
      .then(restart)
      .finally(() => (starting = null))
  }

  const restart = async (): Promise<void> => {
    const { signal } = stopController
    while (!signal.aborted) {
      if (recentExits.length >= limits.restart.exits) {
        setStatus('crashed')
        return hooks.onCrash()
      }
      setStatus('starting')
      const wait = Math.min(limits.restart.first_ms * 2 ** Math.max(0, recentExits.length - 1), limits.restart.max_ms)
      if (!(await context.pause(wait, signal))) return
      try {
        return await launch(signal)
      } catch (error) {
        if (signal.aborted) return
        context.log.warn('service_restart_failed', { service: config.name, error })
        const { available } = await runtime.probe()
        if (available) recordExit()
      }
    }
  }

  const start = async (signal: AbortSignal): Promise<void> => {
    if (replica || status === 'completed') return
    if (starting) return starting
    exits = 0
    recentExits = []
    starting = launch(AbortSignal.any([signal, stopController.signal]))
      .catch((error: unknown) => {
        setStatus('stopped')
        throw error
      })
      .finally(() => (starting = null))
    await starting
  }

  return {
    spec,
    get status() {
      return status
    },
    get replica() {
      return replica
    },
    get endpoint() {
      return endpoint
    },
    get running_since() {
      return runningSince
    },
    get exits() {
      return exits
    },
    get last_exit() {
      return lastExit
    },
    start,
    async revive(signal) {
      if (starting || status === 'crashed') return
      try {
        await start(signal)
      } catch (error) {
        if (signal.aborted || stopController.signal.aborted) return
        context.log.warn('service_restart_failed', { service: config.name, error })
        // Another caller of the same start may have done this already.
        if (replica || starting) return
        if ((await runtime.probe()).available) recordExit()
        if (!replica && !starting) startAgain()
      }
    },
    async adopt(existing) {
      const { exited, observer } = hooks.observe()
      const adopted = await runtime.adopt(existing, observer)
      if (!adopted) return false
      isFrozen = existing.frozen
      endpoint = { host: adopted.host, port: adopted.port }
      take(adopted, exited)
      return true
    },
    async freeze() {
      if (!replica || isFrozen) return
      isFrozen = true
      await runtime.freeze(replica.id)
    },
    async thaw() {
      if (!replica || !isFrozen) return
      isFrozen = false
      await runtime.thaw(replica.id).catch((error: unknown) => context.log.warn('service_thaw_failed', { service: config.name, error }))
    },
    async stop(grace_ms) {
      stopController.abort()
      await starting?.catch(() => {})
      const running = replica
      replica = null
      runningSince = null
      status = 'stopped'
      if (!running) return
      await runtime.stop(running.id, grace_ms).catch(async (error: unknown) => {
        context.log.warn('replica_stop_postponed', { service: config.name, error })
        await context.scheduleCleanup({ kind: 'instance', runtime: hooks.runtime, instance_id: running.id })
      })
      hooks.recordState('stopped')
    },
    detach: () => stopController.abort(),
  }
}

/** Resolves once the service is ready, with the address at which it answers HTTP, if that was checked. */
async function waitUntilReady(
  context: ServiceContext,
  spec: ReplicaSpec,
  replica: Replica,
  exited: Promise<ReplicaExit>,
  signal: AbortSignal,
): Promise<Endpoint | null> {
  const { clock } = context
  const { config } = spec
  const health = spec.health ?? createServiceHealthRequest(spec)
  if (config.kind === 'web' || config.is_public || config.health_check?.kind === 'path') {
    const { endpoint } = await waitUntilHealthy({
      replica,
      known_port: spec.listen_port ?? config.port,
      exited,
      signal,
      clock,
      ...health,
    })
    return endpoint
  }
  if (!replica.runHealthcheck) return null
  const startedAt = clock.monotonic()
  let hasExited = false
  void exited.then(() => (hasExited = true))
  for (;;) {
    const result = await Promise.race([replica.runHealthcheck(), exited.then(() => undefined)])
    signal.throwIfAborted()
    if (result?.passed) return null
    if (hasExited)
      throw new StartFailure(
        'start_failed',
        `The service “${config.name}” exited before its health check passed.`,
        'Its last lines in the log show why.',
      )
    if (clock.monotonic() - startedAt > health.timeout_ms)
      throw new StartFailure(
        'health_check_failed',
        `The service “${config.name}” did not pass its health check within ${Math.round(health.timeout_ms / 1_000)} s. Last output: ${result?.output || 'none'}`,
        'Run the command of the health check in the service to see what is missing. To wait longer, raise start_period under healthcheck of the service, or health_timeout_s in the settings of the project.',
      )
    await context.pause(healthInterval_ms, signal)
  }
}

/** The messages of a failed start refer to “the app”. */
function nameService(error: unknown, name: string): unknown {
  if (!(error instanceof BuildFailure) || error.message.includes(`“${name}”`)) return error
  const Failure = error instanceof CommandFailure ? CommandFailure : StartFailure
  return new Failure(error.code, `Service “${name}”: ${error.message}`, error.hint, error)
}
