import type { RuntimeState } from '../contract/deployments.ts'
import { type ExistingReplica, StartFailure } from '../runtime/runtime.ts'
import type { DeploymentContext } from './context.ts'
import type { OutputListener, RuntimeLogs } from './runtime-logs.ts'
import type { AppSpec } from './supervised-app.ts'
import { createSupervisedService, type SupervisedService } from './supervised-service.ts'
import type { ServiceSpec } from './service-spec.ts'

/** Keeps the services of live deployments running beside their main one. */
export interface ServiceSupervisor {
  /**
   * Starts those services of a deployment that do not run, each after those that it depends on. `after_main` are the ones that depend on the main
   * service. Throws `StartFailure`.
   */
  start(spec: AppSpec, phase: 'images' | 'before_main' | 'after_main', signal: AbortSignal, onOutput?: OutputListener): Promise<void>
  /** Resolves when every built service has run for a moment; throws when one keeps exiting. */
  waitUntilSettled(spec: AppSpec, signal: AbortSignal): Promise<void>
  /** Variables with the addresses of the services that a deployment's main one can call. */
  getAddresses(spec: AppSpec): Record<string, string>
  /** Stops a service and starts it again. Throws `StartFailure`. */
  restart(spec: AppSpec, name: string): Promise<void>
  /** Stops the services that belong to this version alone. */
  stopVersion(deploymentId: string, grace_ms?: number): Promise<void>
  /** Stops the services of an environment that a version no longer has; without a version all of them. */
  stopEnvironment(environmentId: string, except?: AppSpec, grace_ms?: number): Promise<void>
  /** Stops the services of an environment that neither this version has nor one that has begun to start after it. */
  stopUnused(spec: AppSpec): Promise<void>
  freeze(spec: AppSpec): Promise<void>
  thaw(spec: AppSpec): Promise<void>
  /** Takes over replicas that outlived the platform; returns their ids. */
  adopt(spec: AppSpec, existing: ExistingReplica[]): Promise<string[]>
  /** Whether a built service uses the processor, so that its environment should not go to sleep. */
  isBusy(spec: AppSpec): Promise<boolean>
  find(spec: AppSpec, name: string): SupervisedService | undefined
  detach(): void
}

const stopGrace_ms = 10_000
/** A service that runs this long after a start counts as started. */
const settled_ms = 1_000
const settleInterval_ms = 50
const maxEarlyExits = 3
/** Percentage of one core. */
const busyProcessor = 5

export function createServiceSupervisor(
  context: DeploymentContext,
  logs: RuntimeLogs,
  onChange: (projectId: string, ownerId: string) => void,
): ServiceSupervisor {
  /** By owner: a deployment or an environment. */
  const owners = new Map<string, Map<string, SupervisedService>>()
  const closing = new AbortController()
  /** The version that began to start last, by environment. */
  const newest = new Map<string, AppSpec>()
  /** Services of environments that are being stopped, by owner and name. Their successors wait. */
  const stopping = new Map<string, Promise<void>>()

  const stopAndHold = (ownerId: string, name: string, service: SupervisedService, grace_ms: number): Promise<void> => {
    const key = `${ownerId} ${name}`
    const stopped = service.stop(grace_ms).finally(() => {
      if (stopping.get(key) === stopped) stopping.delete(key)
    })
    stopping.set(key, stopped)
    return stopped
  }

  const stopOthers = async (environmentId: string, kept: AppSpec[], grace_ms: number): Promise<void> => {
    const owner = owners.get(environmentId)
    const names = new Set(kept.flatMap(({ services }) => services.flatMap((one) => (one.owner_id === environmentId ? [one.config.name] : []))))
    const others = [...(owner ?? [])].filter(([name]) => !names.has(name))
    for (const [name] of others) owner?.delete(name)
    if (owner?.size === 0) owners.delete(environmentId)
    await Promise.all(others.map(([name, service]) => stopAndHold(environmentId, name, service, grace_ms)))
  }

  const find = (spec: AppSpec, name: string) => {
    const service = spec.services.find(({ config }) => config.name === name)
    return service && owners.get(service.owner_id)?.get(name)
  }

  const listOf = (spec: AppSpec): SupervisedService[] => spec.services.flatMap(({ config }) => find(spec, config.name) ?? [])

  const create = (app: AppSpec, spec: ServiceSpec, onOutput?: OutputListener): SupervisedService => {
    const { name } = spec.config
    const owner = owners.get(spec.owner_id) ?? new Map<string, SupervisedService>()
    owners.set(spec.owner_id, owner)
    const service = createSupervisedService(context, spec, {
      runtime: app.runtime,
      project_id: app.project_id,
      getAddresses: () => getAddresses(app),
      observe: () => logs.observeOutput(app, onOutput && ((stream, line) => onOutput(stream, `${name} | ${line}`)), name),
      recordState: (state: RuntimeState, exitCode) => logs.recordState(app, state, exitCode ?? null, name),
      onChange: () => onChange(app.project_id, spec.owner_id),
    })
    owner.set(name, service)
    return service
  }

  const getAddresses = (spec: AppSpec): Record<string, string> =>
    Object.fromEntries(
      listOf(spec).flatMap(({ spec: { config }, replica }) => {
        if (!replica || (config.kind !== 'web' && config.port === null)) return []
        const [host, port] = replica.is_on_host ? [replica.host, replica.port] : [config.name, replica.assigned_port]
        return [[`HOMEPORT_SERVICE_${config.name.toUpperCase().replaceAll('-', '_')}_URL`, `http://${host}:${port}`]]
      }),
    )

  /** The service as this version needs it; a replica that runs something else is stopped first. */
  const ensure = async (app: AppSpec, spec: ServiceSpec, onOutput?: OutputListener): Promise<SupervisedService> => {
    // Two containers with one volume, such as a database's, would break each other.
    await stopping.get(`${spec.owner_id} ${spec.config.name}`)?.catch(() => {})
    const existing = owners.get(spec.owner_id)?.get(spec.config.name)
    if (existing && existing.spec.request.definition === spec.request.definition && existing.status !== 'crashed') return existing
    await existing?.stop(stopGrace_ms)
    return create(app, spec, onOutput)
  }

  const dependsOnMain = (app: AppSpec, name: string, seen: readonly string[] = []): boolean => {
    if (name === app.main_service) return true
    const spec = app.services.find(({ config }) => config.name === name)
    return !seen.includes(name) && (spec?.config.depends_on.some(({ service }) => dependsOnMain(app, service, [...seen, name])) ?? false)
  }

  const isInPhase = (app: AppSpec, { config, owner_id }: ServiceSpec, phase: 'images' | 'before_main' | 'after_main'): boolean => {
    if (config.kind === 'cron') return false
    if (phase === 'images') return owner_id === app.environment_id
    return dependsOnMain(app, config.name) === (phase === 'after_main')
  }

  const waitForDependency = async (
    app: AppSpec,
    of: string,
    { service, condition }: ServiceSpec['config']['depends_on'][number],
    signal: AbortSignal,
  ): Promise<void> => {
    if (condition !== 'completed') return
    const dependency = find(app, service)
    while (dependency && dependency.status !== 'completed') {
      if (dependency.exits > 0 || dependency.status === 'crashed')
        throw new StartFailure(
          'start_failed',
          `The service “${service}”, which “${of}” waits for, ended with exit code ${dependency.last_exit?.code ?? 'unknown'}.`,
          'Its last lines in the log show why.',
        )
      if (!(await context.pause(settleInterval_ms, signal))) signal.throwIfAborted()
    }
  }

  return {
    async start(app, phase, signal, onOutput) {
      newest.set(app.environment_id, app)
      const due = app.services.filter((spec) => isInPhase(app, spec, phase))
      const started = new Map<string, Promise<void>>()
      const startOne = (spec: ServiceSpec, path: readonly string[]): Promise<void> => {
        const { name, depends_on } = spec.config
        if (path.includes(name)) return Promise.resolve()
        const known = started.get(name)
        if (known) return known
        const starting = (async () => {
          for (const dependency of depends_on) {
            const before = due.find(({ config }) => config.name === dependency.service)
            if (before) await startOne(before, [...path, name])
            await waitForDependency(app, name, dependency, signal)
          }
          const service = await ensure(app, spec, onOutput)
          await service.thaw()
          await service.start(signal)
        })()
        started.set(name, starting)
        return starting
      }
      const results = await Promise.allSettled(due.map((spec) => startOne(spec, [])))
      for (const result of results) if (result.status === 'rejected') throw result.reason
    },

    async waitUntilSettled(app, signal) {
      const built = () => listOf(app).filter(({ spec }) => spec.owner_id === app.deployment_id)
      for (;;) {
        const unsettled = built().filter(
          ({ status, running_since }) => status !== 'completed' && (running_since === null || context.clock.monotonic() - running_since < settled_ms),
        )
        if (unsettled.length === 0) return
        const failing = unsettled.find(({ exits, status }) => exits >= maxEarlyExits || status === 'crashed')
        if (failing)
          throw new StartFailure(
            'start_failed',
            `The service “${failing.spec.config.name}” keeps exiting, the last time with exit code ${failing.last_exit?.code ?? 'unknown'}.`,
            'Its last lines in the log show why.',
          )
        if (!(await context.pause(settleInterval_ms, signal))) signal.throwIfAborted()
      }
    },

    getAddresses,

    async restart(app, name) {
      const spec = app.services.find(({ config }) => config.name === name)
      if (!spec) return
      await find(app, name)?.stop(stopGrace_ms)
      await create(app, spec).start(closing.signal)
    },

    async stopVersion(deploymentId, grace_ms = stopGrace_ms) {
      const services = [...(owners.get(deploymentId)?.values() ?? [])]
      owners.delete(deploymentId)
      await Promise.all(services.map((service) => service.stop(grace_ms)))
    },

    async stopEnvironment(environmentId, except, grace_ms = stopGrace_ms) {
      if (except) newest.set(environmentId, except)
      else newest.delete(environmentId)
      await stopOthers(environmentId, except ? [except] : [], grace_ms)
    },
    stopUnused: (spec) => stopOthers(spec.environment_id, [spec, newest.get(spec.environment_id) ?? spec], stopGrace_ms),

    freeze: async (app) => void (await Promise.all(listOf(app).map((service) => service.freeze()))),
    thaw: async (app) => void (await Promise.all(listOf(app).map((service) => service.thaw()))),

    async adopt(app, existing) {
      const adopted: string[] = []
      for (const spec of app.services) {
        const found = existing.find(
          (one) =>
            one.running &&
            one.adoptable &&
            one.deployment_id === spec.owner_id &&
            one.service === spec.config.name &&
            one.definition === spec.request.definition,
        )
        if (!found || find(app, spec.config.name)) continue
        if (await create(app, spec).adopt(found)) adopted.push(found.id)
      }
      return adopted
    },

    async isBusy(app) {
      const running = listOf(app).flatMap(({ spec, replica }) => (replica && spec.owner_id === app.deployment_id ? [replica] : []))
      const usages = await Promise.all(
        running.map(({ id }) =>
          context
            .runtime(app.runtime)
            .usage(id)
            .catch(() => null),
        ),
      )
      return usages.some((usage) => usage !== null && usage.cpu_percent >= busyProcessor)
    },

    find,

    detach() {
      closing.abort()
      for (const owner of owners.values()) for (const service of owner.values()) service.detach()
    },
  }
}
