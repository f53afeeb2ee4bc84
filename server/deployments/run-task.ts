import type { TerminalSize } from '../contract/command-frames.ts'
import { type Artifact, type AttachedReplica, type ReplicaExit, type ReplicaObserver, type ServiceRequest, StartFailure } from '../runtime/runtime.ts'
import type { DeploymentContext } from './context.ts'
import type { AppSpec } from './supervised-app.ts'

export interface Task {
  /** Of the replica: `release`, or the name of a cron service. */
  name: string
  /** The service whose artifact and variables it uses. */
  service: string
  command: string[] | null
}

/**
 * Runs a command once in the environment of a version and resolves with its exit, after its last line. Its container or process ends with the signal.
 * Throws `StartFailure` when it cannot be started.
 */
export async function runTask(
  context: DeploymentContext,
  spec: AppSpec,
  task: Task,
  onLine: ReplicaObserver['onLine'],
  addresses: Record<string, string>,
  signal: AbortSignal,
): Promise<ReplicaExit> {
  const { start, service } = prepareTask(spec, task, addresses)
  const runtime = context.runtime(spec.runtime)
  const exited = Promise.withResolvers<ReplicaExit>()
  const replica = await runtime.start({
    ...start,
    listen_port: null,
    service: { ...service, ...(task.command && { command: task.command }) },
    signal,
    onLine,
    onExit: exited.resolve,
  })
  const abort = () =>
    void runtime.stop(replica.id, 0).catch((error: unknown) => context.log.warn('leftover_cleanup_failed', { task: task.name, error }))
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  try {
    return await exited.promise
  } finally {
    signal.removeEventListener('abort', abort)
    await runtime.stop(replica.id, 0).catch((error: unknown) => context.log.warn('leftover_cleanup_failed', { task: task.name, error }))
  }
}

export interface AttachedTask {
  /** The name of the replica; no service has this name. */
  name: string
  /** null: the main one. */
  service: string | null
  /** null: a shell. */
  command: string[] | null
  terminal: TerminalSize | null
}

/** The type of the dashboard's terminal, which common terminal programs support too. */
const terminalType = 'xterm-256color'

/** Starts a command in the environment of a version, with the caller's input and output. Throws `StartFailure`. The caller must stop it. */
export function startAttachedTask(
  context: DeploymentContext,
  spec: AppSpec,
  task: AttachedTask,
  addresses: Record<string, string>,
  signal: AbortSignal,
): Promise<AttachedReplica> {
  const { command, terminal } = task
  const { start, service } = prepareTask(spec, { name: task.name, service: task.service ?? spec.main_service ?? '' }, addresses)
  const variables = terminal ? { TERM: terminalType, ...start.variables } : start.variables
  return context.runtime(spec.runtime).startAttached({ ...start, variables, service, command, terminal, signal })
}

/** A replica next to the serving ones, without host names and without a health check. */
function prepareTask(spec: AppSpec, task: Pick<Task, 'name' | 'service'>, addresses: Record<string, string>) {
  const { artifact, request = plainRequest, variables, memory_mb, cpus } = findService(spec, task.service)
  if (!artifact || artifact.kind === 'static')
    throw new StartFailure(
      'start_failed',
      `${task.name} needs a service that runs, and “${task.service}” is a static site.`,
      'Give it a service with its own build.',
    )
  const networks = request.networks.map((network) => ({ ...network, host_names: [] }))
  return {
    start: { project_id: spec.project_id, deployment_id: spec.deployment_id, artifact, variables: { ...variables, ...addresses }, memory_mb, cpus },
    service: { ...request, name: task.name, networks, health_command: null, definition: task.name } satisfies ServiceRequest,
  }
}

const plainRequest: Omit<ServiceRequest, 'name' | 'definition'> = {
  entrypoint: null,
  command: null,
  working_directory: null,
  port: null,
  networks: [],
  volumes: [],
  health_command: null,
  is_ready_image: false,
}

/** The main service has its own name, or any name if there are no services. */
function findService(
  spec: AppSpec,
  name: string,
): { artifact: Artifact | null; request: ServiceRequest | undefined; variables: Record<string, string>; memory_mb: number; cpus: number } {
  const service = spec.services.find(({ config }) => config.name === name)
  if (service) return service
  return { artifact: spec.artifact, request: spec.service, variables: spec.variables, memory_mb: spec.memory_mb, cpus: spec.cpus }
}
