import type { RuntimeState } from '../contract/deployments.ts'
import { StartFailure } from '../runtime/runtime.ts'
import type { OutputListener, RuntimeLogs } from './runtime-logs.ts'
import type { AppSpec } from './supervised-app.ts'
import { batchReplicas, byReplica, createReplicaSpec, getReplicaKey, joinAll, listMainReplicas, singleAppName } from './replica-specs.ts'
import { createSupervisedService, type ServiceContext, type SupervisedService } from './supervised-service.ts'
import type { ReplicaSpec, ServiceSpec } from './service-spec.ts'
import type { Phase, ServiceSupervisor } from './service-supervisor.ts'

const stopGrace_ms = 10_000
/** A service that runs this long after a start counts as started. */
const settled_ms = 1_000
const settleInterval_ms = 50
const maxEarlyExits = 3
/** Percentage of one core. */
const busyProcessor = 5

export function createServiceSupervisor(
  context: ServiceContext,
  logs: Pick<RuntimeLogs, 'observeOutput' | 'recordState'>,
  onChange: (projectId: string, ownerId: string) => void,
  onCrash: (app: AppSpec, service: ReplicaSpec) => void,
): ServiceSupervisor {
  /** By owner, a deployment or an environment, then by `getReplicaKey`. */
  const owners = new Map<string, Map<string, SupervisedService>>()
  const closing = new AbortController()
  /** The version that owns the prebuilt images, by environment. */
  const claims = new Map<string, AppSpec>()
  /** Services that are being stopped, by owner and name. Their successors wait. */
  const stopping = new Map<string, Promise<void>>()

  /** Removes a service synchronously, so that no later version takes over a stopping one. */
  const removeAndStop = (ownerId: string, name: string, grace_ms = stopGrace_ms, after = Promise.resolve()): Promise<void> => {
    const owner = owners.get(ownerId)
    const service = owner?.get(name)
    if (!service) return Promise.resolve()
    owner?.delete(name)
    if (owner?.size === 0) owners.delete(ownerId)
    const key = `${ownerId} ${name}`
    const stopped = after
      .then(() => service.stop(grace_ms))
      .finally(() => {
        if (stopping.get(key) === stopped) stopping.delete(key)
      })
    stopping.set(key, stopped)
    return stopped
  }

  const stopOwner = async (ownerId: string, grace_ms = stopGrace_ms): Promise<void> => {
    await Promise.all([...(owners.get(ownerId)?.keys() ?? [])].map((name) => removeAndStop(ownerId, name, grace_ms)))
  }

  const listImages = ({ services, environment_id }: AppSpec): ServiceSpec[] => services.filter(({ owner_id }) => owner_id === environment_id)

  /** A service with the configuration of the version that owns it. */
  const findClaimed = (app: AppSpec, { config, owner_id }: Pick<ReplicaSpec, 'config' | 'owner_id'>): ServiceSpec | undefined => {
    const claim = claims.get(app.environment_id)
    if (!claim || claim.deployment_id === app.deployment_id || owner_id !== app.environment_id) return undefined
    return listImages(claim).find((one) => one.config.name === config.name)
  }

  const find = (spec: AppSpec, name: string) => {
    const service = spec.services.find(({ config }) => config.name === name)
    return service && owners.get(service.owner_id)?.get(name)
  }

  const listReplicas = (app: AppSpec, name: string | null): SupervisedService[] => {
    const owner = owners.get(app.services.find(({ config }) => config.name === name)?.owner_id ?? app.deployment_id)
    return [...(owner?.values() ?? [])].filter(({ spec }) => spec.config.name === (name ?? singleAppName)).toSorted(byReplica)
  }

  /** The services and their replicas, with those of the main one. */
  const listOf = (spec: AppSpec): SupervisedService[] => [
    ...(spec.artifact ? listReplicas(spec, spec.main_service) : []),
    ...spec.services.flatMap(({ config }) => listReplicas(spec, config.name)),
  ]

  const create = (app: AppSpec, spec: ReplicaSpec, onOutput?: OutputListener): SupervisedService => {
    const { name } = spec.config
    const isMain = name === (app.main_service ?? singleAppName)
    const label = spec.replica > 1 ? `${name} ${spec.replica}` : name
    const logged = isMain ? undefined : name
    const owner = owners.get(spec.owner_id) ?? new Map<string, SupervisedService>()
    owners.set(spec.owner_id, owner)
    const service = createSupervisedService(context, spec, {
      runtime: app.runtime,
      project_id: app.project_id,
      getAddresses: () => getAddresses(app),
      observe: () => logs.observeOutput(app, onOutput && ((stream, line) => onOutput(stream, `${label} | ${line}`)), logged, spec.replica),
      recordState: (state: RuntimeState, exitCode) => logs.recordState(app, state, exitCode ?? null, logged, spec.replica),
      onChange: () => onChange(app.project_id, spec.owner_id),
      onCrash: () => onCrash(app, spec),
    })
    owner.set(getReplicaKey(spec), service)
    return service
  }

  const getAddresses = (spec: AppSpec): Record<string, string> =>
    Object.fromEntries(
      spec.services.flatMap(({ config }) => {
        const { replica } = find(spec, config.name) ?? {}
        if (!replica || (config.kind !== 'web' && config.port === null)) return []
        const [host, port] = replica.is_on_host ? [replica.host, replica.port] : [config.name, replica.assigned_port]
        return [[`HOMEPORT_SERVICE_${config.name.toUpperCase().replaceAll('-', '_')}_URL`, `http://${host}:${port}`]]
      }),
    )

  /** The service as this version needs it; a replica with another configuration is stopped first. */
  const ensure = async (app: AppSpec, spec: ReplicaSpec, keepsCrashed: boolean, onOutput?: OutputListener): Promise<SupervisedService> => {
    const key = getReplicaKey(spec)
    for (;;) {
      // Two containers with one volume, such as a database's, would corrupt it. Several callers may have waited.
      await stopping.get(`${spec.owner_id} ${key}`)?.catch(() => {})
      if (stopping.has(`${spec.owner_id} ${key}`)) continue
      const existing = owners.get(spec.owner_id)?.get(key)
      if (!existing) return create(app, spec, onOutput)
      const isAsNeeded = existing.spec.request?.definition === spec.request?.definition
      if (isAsNeeded && (keepsCrashed || existing.status !== 'crashed')) return existing
      await removeAndStop(spec.owner_id, key).catch(() => {})
    }
  }

  const dependsOnMain = (app: AppSpec, name: string, seen: readonly string[] = []): boolean => {
    if (name === app.main_service) return true
    const spec = app.services.find(({ config }) => config.name === name)
    return !seen.includes(name) && (spec?.config.depends_on.some(({ service }) => dependsOnMain(app, service, [...seen, name])) ?? false)
  }

  const isInPhase = (app: AppSpec, { config, owner_id }: ServiceSpec, phase: Phase): boolean => {
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

  /** Starts the services of a phase in order, each with `startService`. */
  const startPhase = async (
    app: AppSpec,
    phase: Phase,
    signal: AbortSignal,
    startService: (spec: ServiceSpec) => Promise<void>,
  ): Promise<PromiseSettledResult<void>[]> => {
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
        if (!findClaimed(app, spec)) await startService(spec)
      })()
      started.set(name, starting)
      return starting
    }
    return Promise.allSettled(due.map((spec) => startOne(spec, [])))
  }

  const reviveOne = async (app: AppSpec, spec: ReplicaSpec, signal: AbortSignal): Promise<void> => {
    if (signal.aborted) return
    const service = await ensure(app, spec, true)
    await service.thaw()
    await service.revive(signal)
  }

  return {
    claim: (spec) => void claims.set(spec.environment_id, spec),
    isClaimed: (environmentId) => claims.has(environmentId),

    async start(app, phase, signal, onOutput) {
      const results = await startPhase(app, phase, signal, async (spec) => {
        for (const batch of batchReplicas(spec))
          await joinAll(
            batch.map(async (one) => {
              const service = await ensure(app, one, false, onOutput)
              await service.thaw()
              await service.start(signal).catch((error: unknown) => {
                // The version that has claimed it stopped it meanwhile.
                if (!findClaimed(app, spec)) throw error
              })
            }),
          )
      })
      for (const result of results) if (result.status === 'rejected') throw result.reason
      if (phase !== 'before_main') return
      // The app starts next. A dependency of it may be an image, whose phase has begun before.
      for (const dependency of app.main_config?.depends_on ?? []) await waitForDependency(app, app.main_service ?? '', dependency, signal)
    },

    async revive(app, phase, signal) {
      const results = await startPhase(app, phase, signal, async (spec) => {
        for (const batch of batchReplicas(spec)) await joinAll(batch.map((one) => reviveOne(app, one, signal)))
      })
      for (const result of results)
        if (result.status === 'rejected' && !signal.aborted)
          context.log.warn('service_restart_failed', { deployment: app.deployment_id, error: result.reason })
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
      const own = app.services.find(({ config }) => config.name === name)
      if (!own) return
      const spec = findClaimed(app, own) ?? own
      // One at a time, so that the others serve.
      for (const one of listReplicas(app, name)) {
        await removeAndStop(spec.owner_id, getReplicaKey(one.spec))
        if (one.spec.replica <= spec.replicas) await (await ensure(app, createReplicaSpec(spec, one.spec.replica), false)).start(closing.signal)
      }
      for (const batch of batchReplicas(spec)) await joinAll(batch.map(async (one) => (await ensure(app, one, false)).start(closing.signal)))
    },

    stopVersion: stopOwner,

    async stop(app) {
      const claim = claims.get(app.environment_id)
      const isClaimed = claim !== undefined && claim.deployment_id !== app.deployment_id
      const kept = isClaimed ? listImages(claim).map(({ config }) => config.name) : []
      const images = [...(owners.get(app.environment_id)?.keys() ?? [])].filter((name) => !kept.includes(name))
      await Promise.all([stopOwner(app.deployment_id), ...images.map((name) => removeAndStop(app.environment_id, name))])
    },

    async stopEnvironment(environmentId, grace_ms) {
      claims.delete(environmentId)
      await stopOwner(environmentId, grace_ms)
    },

    async stopImages(app) {
      if (claims.get(app.environment_id) !== app) return
      claims.delete(app.environment_id)
      await stopOwner(app.environment_id)
    },

    async stopUnused(app) {
      const kept = [app, claims.get(app.environment_id) ?? app].flatMap(listImages)
      const isKept = ({ spec }: SupervisedService) =>
        kept.some(({ config, request }) => config.name === spec.config.name && request.definition === spec.request?.definition)
      const unused = [...(owners.get(app.environment_id)?.values() ?? [])].filter((service) => !isKept(service))
      await Promise.all(unused.map(({ spec }) => removeAndStop(app.environment_id, getReplicaKey(spec))))
    },

    freeze: async (app) => void (await Promise.all(listOf(app).map((service) => service.freeze()))),
    async freezeOwn(app) {
      const own = listOf(app).filter(({ spec }) => !findClaimed(app, spec))
      await Promise.all(own.map((service) => service.freeze()))
    },
    thaw: async (app) => void (await Promise.all(listOf(app).map((service) => service.thaw()))),

    async adopt(app, existing) {
      const adopted: string[] = []
      for (const spec of [...listMainReplicas(app), ...app.services.flatMap((one) => batchReplicas(one).flat())]) {
        const found = existing.find(
          (one) =>
            one.running &&
            one.adoptable &&
            one.deployment_id === spec.owner_id &&
            one.service === (spec.request?.name ?? null) &&
            one.definition === (spec.request?.definition ?? null) &&
            one.replica === spec.replica,
        )
        if (!found || owners.get(spec.owner_id)?.has(getReplicaKey(spec))) continue
        if (await create(app, spec).adopt({ ...found, listen_port: spec.listen_port ?? null })) adopted.push(found.id)
      }
      return adopted
    },

    async isBusy(app) {
      const running = listOf(app).flatMap(({ spec, replica }) =>
        replica && spec.owner_id === app.deployment_id && spec.config.name !== (app.main_service ?? singleAppName) ? [replica] : [],
      )
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
    listReplicas,

    async startReplicas(app, signal, { onOutput, upTo = app.replicas, onReady }) {
      await joinAll(
        listMainReplicas({ ...app, replicas: upTo }).map(async (one) => {
          const service = await ensure(app, one, false, onOutput)
          await service.start(signal)
          onReady?.(service)
        }),
      )
    },

    async reviveReplicas(app, signal) {
      await Promise.all(listMainReplicas(app).map((one) => reviveOne(app, one, signal)))
    },

    async removeReplicas(app, isSurplus, untilDrained) {
      const surplus = listReplicas(app, app.main_service).filter(isSurplus)
      const drained = Promise.withResolvers<void>()
      const stopped = surplus.map(({ spec }) => removeAndStop(app.deployment_id, getReplicaKey(spec), stopGrace_ms, drained.promise))
      if (surplus.length > 0) await untilDrained()
      drained.resolve()
      await Promise.all(stopped)
    },

    detach() {
      closing.abort()
      for (const owner of owners.values()) for (const service of owner.values()) service.detach()
    },
  }
}
