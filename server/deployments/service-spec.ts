import { createHash } from 'node:crypto'
import { fillEnvironment } from '../contract/environment-template.ts'
import type { Autoscaling } from '../contract/autoscaling.ts'
import type { ServiceConfig } from '../contract/project-config.ts'
import type { DeploymentTarget } from '../contract/deployments.ts'
import type { Artifact, ServiceRequest } from '../runtime/runtime.ts'
import { parseAutoscaling } from '../store/autoscaling.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { HealthRequest } from './health-request.ts'
import type { Version } from './version.ts'

/** The data needed to start a service, other than the main one, repeatedly. */
export interface ServiceSpec {
  config: ServiceConfig
  artifact: Artifact
  /**
   * The deployment, for a built service, because each version has its own replicas. The environment, for a prebuilt image that depends on nothing
   * was built: its replica and data are the same for all versions.
   */
  owner_id: string
  variables: Record<string, string>
  memory_mb: number
  cpus: number
  /** Labels that a node must have, as `key=value`. */
  node_labels?: readonly string[]
  /** The time until it must be healthy, unless its own health check has one. */
  health_timeout_s: number
  replicas: number
  request: ServiceRequest
}

/** The data needed to start one replica of a service, or a further replica of the main one. */
export interface ReplicaSpec extends Omit<ServiceSpec, 'request' | 'config' | 'replicas'> {
  config: Pick<ServiceConfig, 'name' | 'kind' | 'port' | 'ports' | 'is_public' | 'restart' | 'health_check'>
  request?: ServiceRequest
  /** From 1. */
  replica: number
  /** Of the main service: what its first replica was found to need. */
  health?: HealthRequest
  listen_port?: number | null
}

export interface ServiceOptions {
  environment_id: string
  deployment_id: string
  target: DeploymentTarget
  /** The variables of the project and the platform for this target. */
  variables: Record<string, string>
  memory_mb: number
  cpus: number
  node_labels: readonly string[]
  health_timeout_s: number
  /** Of each service, by the plan. */
  max_replicas: number
  /** Adds the variables of the OpenTelemetry SDKs. */
  withTracing(variables: Record<string, string>, service: string): Record<string, string>
}

/** How the services of a version start: the main one, and the others. */
export function createServiceSpecs(version: Version, options: ServiceOptions): { main: MainService | null; services: ServiceSpec[] } {
  const environmentNames = findEnvironmentServices(version)
  const ownNames = listConfigs(version).filter(({ name }) => !environmentNames.has(name))
  const createRequest = (config: ServiceConfig, artifact: Artifact): ServiceRequest => {
    const isOfEnvironment = environmentNames.has(config.name)
    const host_names = [config.name, ...config.aliases]
    const networks: ServiceRequest['networks'] = []
    if (!isOfEnvironment && ownNames.length > 1) networks.push({ name: options.deployment_id, host_names })
    if (environmentNames.size > 0) networks.push({ name: options.environment_id, host_names: isOfEnvironment ? host_names : [] })
    const health = config.health_check
    return {
      name: config.name,
      entrypoint: config.entrypoint,
      command: config.command,
      working_directory: config.working_directory,
      port: config.port,
      networks,
      volumes: config.volumes.map(({ name, ...mount }) => ({ id: `${options.environment_id}.${name}`, ...mount })),
      health_command: health?.kind === 'command' ? { command: health.command, timeout_s: health.timeout_s } : null,
      is_ready_image: config.source.kind === 'image',
      definition: createDefinition(config, artifact, options.target),
    }
  }
  const { main } = version
  return {
    main: main?.config ? { request: createRequest(main.config, main.artifact), variables: fillEnvironment(main.config, options.variables) } : null,
    services: version.services.map(({ config, artifact }) => {
      const own = fillEnvironment(config, options.variables)
      return {
        config,
        artifact,
        owner_id: environmentNames.has(config.name) ? options.environment_id : options.deployment_id,
        // A prebuilt image gets only the variables of the file, and nothing of the project.
        variables: config.source.kind === 'image' ? own : options.withTracing({ ...options.variables, ...own }, config.name),
        memory_mb: Math.min(config.memory_mb ?? options.memory_mb, options.memory_mb),
        cpus: Math.min(config.cpus ?? options.cpus, options.cpus),
        node_labels: options.node_labels,
        health_timeout_s: options.health_timeout_s,
        replicas: Math.min(countReplicas(config, options.target), options.max_replicas),
        request: createRequest(config, artifact),
      }
    }),
  }
}

/**
 * How many replicas of a service run. A preview has one of each, because it gets few visits. So has a service with a volume: most programs that write
 * files expect to be alone.
 */
function countReplicas(
  config: Pick<ServiceConfig, 'kind' | 'replicas'> & { volumes: readonly unknown[] },
  target: DeploymentTarget,
  ofProject = 1,
): number {
  return canRepeat(config, target) ? (config.replicas ?? ofProject) : 1
}

const canRepeat = ({ kind, volumes }: Pick<ServiceConfig, 'kind'> & { volumes: readonly unknown[] }, target: DeploymentTarget): boolean =>
  target === 'production' && (kind === 'web' || kind === 'worker') && volumes.length === 0

/** How many replicas of the main service run, and the range of autoscaling, which a number in the configuration file turns off. */
export function decideReplicas(
  config: Pick<ServiceConfig, 'kind' | 'replicas' | 'autoscaling'> & { volumes: readonly unknown[] },
  target: DeploymentTarget,
  project: Pick<ProjectRow, 'replicas' | 'autoscaling'>,
  allowed: number,
): { replicas: number; autoscaling: Autoscaling | null } {
  const replicas = Math.min(countReplicas(config, target, project.replicas), allowed)
  const range = config.replicas === null && canRepeat(config, target) ? (config.autoscaling ?? parseAutoscaling(project.autoscaling)) : null
  return { replicas, autoscaling: range && { ...range, min: Math.min(range.min, allowed), max: Math.min(range.max, allowed) } }
}

/** A new version starts with a number within the range. That of a live version is changed by autoscaling, with a reason. */
export const clampReplicas = ({ replicas, autoscaling }: ReturnType<typeof decideReplicas>): ReturnType<typeof decideReplicas> => ({
  replicas: autoscaling ? Math.min(autoscaling.max, Math.max(autoscaling.min, replicas)) : replicas,
  autoscaling,
})

/** An app without services. */
export const singleApp = { kind: 'web', replicas: null, autoscaling: null, volumes: [] } as const satisfies Partial<ServiceConfig>

export interface MainService {
  request: ServiceRequest
  /** Override the project's. */
  variables: Record<string, string>
}

const listConfigs = ({ main, services }: Version): ServiceConfig[] => [
  ...(main?.config ? [main.config] : []),
  ...services.map(({ config }) => config),
]

/** Prebuilt images that depend on nothing that is built. They keep running while new versions of the others are deployed. */
function findEnvironmentServices(version: Version): Set<string> {
  const configs = new Map(listConfigs(version).map((config) => [config.name, config]))
  const isOfEnvironment = (config: ServiceConfig, seen: readonly string[] = []): boolean =>
    config.kind === 'image' &&
    config.depends_on.every(({ service }) => {
      const dependency = configs.get(service)
      return !dependency || seen.includes(service) || isOfEnvironment(dependency, [...seen, service])
    })
  return new Set(
    [...configs.values()].filter((config) => config.name !== version.main?.config?.name && isOfEnvironment(config)).map(({ name }) => name),
  )
}

/** Equal for services with the same configuration. */
const createDefinition = (config: ServiceConfig, artifact: Artifact, target: DeploymentTarget): string =>
  createHash('sha256')
    .update(
      JSON.stringify([
        config,
        ...(artifact.kind === 'image' ? [artifact.image, ...(artifact.id ? [artifact.id] : [])] : [artifact.directory]),
        // Replicas from before previews had their own passwords are not adopted.
        ...(target === 'preview' ? ['own passwords'] : []),
      ]),
    )
    .digest('hex')
    .slice(0, 16)
