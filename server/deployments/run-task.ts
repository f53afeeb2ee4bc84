import { type Artifact, type ReplicaExit, type ReplicaObserver, type ServiceRequest, StartFailure } from '../runtime/runtime.ts'
import type { DeploymentContext } from './context.ts'
import type { AppSpec } from './supervised-app.ts'

export interface Task {
  /** Of the replica: `release`, or the name of a cron service. */
  name: string
  /** The service in whose artifact and with whose variables it runs. */
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
  const { artifact, request, variables, memory_mb, cpus } = findService(spec, task.service)
  if (!artifact || artifact.kind === 'static')
    throw new StartFailure(
      'start_failed',
      `${task.name} needs a service that runs, and “${task.service}” is a static site.`,
      'Give it a service with a build of its own.',
    )
  const runtime = context.runtime(spec.runtime)
  const exited = Promise.withResolvers<ReplicaExit>()
  const replica = await runtime.start({
    project_id: spec.project_id,
    deployment_id: spec.deployment_id,
    artifact,
    listen_port: null,
    variables: { ...variables, ...addresses },
    memory_mb,
    cpus,
    service: {
      ...(request ?? plainRequest),
      name: task.name,
      ...(task.command && { command: task.command }),
      networks: (request ?? plainRequest).networks.map((network) => ({ ...network, host_names: [] })),
      health_command: null,
      definition: task.name,
    },
    signal,
    onLine,
    onExit: exited.resolve,
  })
  const abort = () => void runtime.stop(replica.id, 0).catch((error: unknown) => context.log.warn('leftover_not_removed', { task: task.name, error }))
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  try {
    return await exited.promise
  } finally {
    signal.removeEventListener('abort', abort)
    await runtime.stop(replica.id, 0).catch((error: unknown) => context.log.warn('leftover_not_removed', { task: task.name, error }))
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

function findService(
  spec: AppSpec,
  name: string,
): { artifact: Artifact | null; request: ServiceRequest | undefined; variables: Record<string, string>; memory_mb: number; cpus: number } {
  const service = spec.services.find(({ config }) => config.name === name)
  if (service) return service
  return { artifact: spec.artifact, request: spec.service, variables: spec.variables, memory_mb: spec.memory_mb, cpus: spec.cpus }
}
