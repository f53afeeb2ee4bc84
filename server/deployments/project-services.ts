import { Problem } from '../contract/errors.ts'
import type { CronRun, Service } from '../contract/services.ts'
import type { StreamEvent } from '../contract/operation.ts'
import { listCronRuns, toCronRun } from '../store/cron-runs.ts'
import type { CronRunRow } from '../store/tables.ts'
import { StartFailure } from '../runtime/runtime.ts'
import { getPortVariable } from '../lib/public-ports.ts'
import type { DeploymentContext } from './context.ts'
import type { CronScheduler } from './cron.ts'
import { createServiceHealthRequest, type HealthRequest } from './health-request.ts'
import { createSingleAppService } from './managed-services.ts'
import { listReplicas } from './list-replicas.ts'
import { singleAppName } from './replica-specs.ts'
import { followRuntimeLog, type LogStreamContext } from './log-streams.ts'
import { type EnvironmentName, getServiceLogName, nameEnvironment } from './supervised-app.ts'
import type { ServiceSpec } from './service-spec.ts'
import type { EnvironmentState, Supervisor } from './supervisor.ts'

/** The functions for features: the services of a project. */
export interface ProjectServices {
  list(environment: EnvironmentName): Promise<{ services: Service[]; release_command: string | null; deployment_id: string | null }>
  /** Throws `service_not_found` or `service_not_started`. */
  restart(environment: EnvironmentName, name: string): Promise<void>
  followLog(
    environment: EnvironmentName,
    name: string,
    options: { lines: number; replica: number | undefined; last_event_id: string | undefined; signal: AbortSignal },
  ): AsyncIterable<StreamEvent>
  /** The name of the log of a service, or of the environment's main one. Throws `service_not_found`. */
  findLog(environment: EnvironmentName, name?: string): string
  /** The logs of an environment: of its main service (null), and of the others of its live version. */
  listLogs(environment: EnvironmentName): { service: string | null; stream: string }[]
  /** Runs a command in a running service: standard input, and output. Throws `service_not_found` or `service_not_started`. */
  runCommand(
    environment: EnvironmentName,
    name: string,
    command: string[],
    input: AsyncIterable<Uint8Array> | null,
    signal: AbortSignal,
  ): AsyncIterable<Uint8Array>
  /** Throws `service_not_found` or `service_not_started`. */
  runCron(projectId: string, name: string): Promise<CronRun>
}

export function createProjectServices(
  context: DeploymentContext,
  supervisor: Supervisor,
  cron: CronScheduler,
  logs: LogStreamContext,
): ProjectServices {
  const requireService = (environment: EnvironmentName, name: string): { state: EnvironmentState; spec: ServiceSpec | undefined } => {
    const state = supervisor.findEnvironment(nameEnvironment(environment))
    const spec = state?.spec.services.find(({ config }) => config.name === name)
    if (!state || (!spec && (state.spec.main_service ?? singleAppName) !== name))
      throw new Problem('service_not_found', `The live version has no service “${name}”. List them with homeport services.`)
    return { state, spec }
  }

  const findLog = (environment: EnvironmentName, name?: string): string => {
    const id = nameEnvironment(environment)
    return name !== undefined && requireService(environment, name).spec ? getServiceLogName(id, name) : id
  }

  return {
    findLog,
    listLogs(environment) {
      const id = nameEnvironment(environment)
      const services = supervisor.findEnvironment(id)?.spec.services ?? []
      return [{ service: null, stream: id }, ...services.map(({ config: { name } }) => ({ service: name, stream: getServiceLogName(id, name) }))]
    },
    async list(environment) {
      const state = supervisor.findEnvironment(nameEnvironment(environment))
      if (!state) return { services: [], release_command: null, deployment_id: null }
      const { spec } = state
      const toUrl = (host: string | undefined) => (host === undefined ? null : context.urlOf(host))
      const toPorts = (service: string, ports: readonly number[] = []) =>
        ports.map((port) => ({ port, url: toUrl(context.routes.findServiceHost(spec, service, port)), variable: getPortVariable(port) }))
      const lastRuns = await context.store.db.read(
        (tx) => new Map(spec.services.map(({ config }) => [config.name, listCronRuns(tx, spec.project_id, config.name, 1)[0]])),
      )
      const replicas = await listReplicas(context, state)
      const services = spec.services.map((one, at) => {
        const { name, is_public, ports } = one.config
        const url = is_public ? toUrl(context.routes.findServiceHost(spec, name)) : null
        return presentService(one, state, {
          replicas: replicas[at + 1] ?? [],
          url,
          ports: toPorts(name, ports),
          // In previews, cron services do not run.
          ...(spec.target === 'production' && { next_run_at: cron.nextRunAt(one), last_run: lastRuns.get(one.config.name) }),
        })
      })
      // An app without services is listed for its further ports and its replicas.
      const config =
        state.main?.config ?? (spec.ports.length > 0 || spec.replicas > 1 || spec.autoscaling !== null ? createSingleAppService() : undefined)
      const facts = config && { url: toUrl(context.routes.getHost(spec)), ports: toPorts(config.name, spec.ports), replicas: replicas[0] ?? [] }
      const main = config && facts ? [presentMain(state, config, facts)] : []
      return { services: [...main, ...services], release_command: state.release?.command.join(' ') ?? null, deployment_id: spec.deployment_id }
    },

    async restart(environment, name) {
      const { state, spec } = requireService(environment, name)
      if (!spec || spec.config.kind === 'cron')
        throw new Problem(
          'service_not_started',
          spec ? 'A cron service runs on its schedule. Run it now instead.' : 'Deploy the project again to restart its main service.',
        )
      try {
        await supervisor.restartService(state.spec, name)
      } catch (error) {
        if (error instanceof StartFailure) throw new Problem('service_not_started', `${error.message} ${error.hint}`)
        throw error
      }
    },

    followLog(environment, name, options) {
      return followRuntimeLog(logs, findLog(environment, name), { ...options, json: true })
    },

    async *runCommand(environment, name, command, input, signal) {
      const { state, spec } = requireService(environment, name)
      if (!spec) throw new Problem('service_not_found', `“${name}” is the main service.`)
      const replicaId = await supervisor.wakeService(state.spec, name, signal).catch((error: unknown) => {
        throw error instanceof StartFailure ? new Problem('service_not_started', `${error.message} ${error.hint}`) : error
      })
      yield* context.runtime(state.spec.runtime).runInReplica(replicaId, command, input, signal)
    },

    async runCron(projectId, name) {
      const { state, spec } = requireService({ project_id: projectId, branch: undefined }, name)
      if (spec?.config.kind !== 'cron') throw new Problem('service_not_started', `“${name}” is not a cron service: it runs all the time.`)
      return cron.runNow(state.spec, spec)
    },
  }
}

type Facts = Pick<Service, 'url' | 'ports' | 'replicas'>
interface CronFacts {
  /** Null if its expression has no next time; undefined if it is not run. */
  next_run_at?: Date | null
  last_run?: CronRunRow | undefined
}

const presentConfig = ({
  config: { name, kind, source, command, entrypoint, port, schedule, time_zone, volumes, depends_on },
}: Pick<ServiceSpec, 'config'>) => ({
  name,
  kind,
  image: source.kind === 'image' ? source.image : null,
  command: command || entrypoint ? [...(entrypoint ?? []), ...(command ?? [])].join(' ') : null,
  port,
  schedule,
  time_zone,
  volumes: volumes.map((volume) => ({ name: volume.name, path: volume.path, is_read_only: volume.is_read_only })),
  depends_on: depends_on.map(({ service }) => service),
})

const presentHealthCheck = (
  { health_check, kind, is_public }: ServiceSpec['config'],
  { path, timeout_ms }: HealthRequest,
): Service['health_check'] => {
  const timeout_s = Math.round(timeout_ms / 1_000)
  if (health_check?.kind === 'command') return { path: null, command: health_check.command.join(' '), timeout_s }
  return health_check || kind === 'web' || is_public ? { path, command: null, timeout_s } : null
}

function presentService(spec: ServiceSpec, state: EnvironmentState, facts: Facts & CronFacts): Service {
  const service = state.services.get(spec.config.name)
  const isCron = spec.config.kind === 'cron'
  const { replica } = service ?? {}
  return {
    ...presentConfig(spec),
    status: isCron ? getCronStatus(facts) : state.is_asleep ? 'asleep' : (service?.status ?? 'stopped'),
    is_main: false,
    url: facts.url,
    ports: facts.ports,
    health_check: presentHealthCheck(spec.config, createServiceHealthRequest(spec)),
    internal_url:
      replica && spec.config.port !== null ? `http://${replica.is_on_host ? replica.host : spec.config.name}:${replica.assigned_port}` : null,
    next_run_at: facts.next_run_at?.toISOString() ?? null,
    last_run: facts.last_run ? toCronRun(facts.last_run) : null,
    restarts: service?.exits ?? 0,
    last_exit_code: service?.last_exit?.code ?? null,
    replicas: facts.replicas,
    autoscaling: null,
  }
}

const getCronStatus = ({ next_run_at, last_run }: CronFacts) =>
  last_run?.status === 'running' ? 'running' : next_run_at === undefined ? 'stopped' : 'scheduled'

const presentMain = (state: EnvironmentState, config: ServiceSpec['config'], { url, ports, replicas }: Facts): Service => ({
  ...presentConfig({ config }),
  status: state.is_asleep ? 'asleep' : state.is_main_running ? 'running' : 'starting',
  is_main: true,
  url,
  ports,
  health_check: presentHealthCheck(config, state.spec.health),
  internal_url: null,
  next_run_at: null,
  last_run: null,
  restarts: state.main_exits,
  last_exit_code: state.main_last_exit_code,
  replicas,
  autoscaling: state.spec.autoscaling,
})
