import { StartFailure } from '../runtime/runtime.ts'
import type { ReplicaSpec, ServiceSpec } from './service-spec.ts'
import type { AppSpec } from './supervised-app.ts'

/** The name of an app without services, in the addresses of its further ports and in messages. */
export const singleAppName = 'web'

/** Identifies a replica among those of its owner. The first has the name of its service. */
export const getReplicaKey = ({ config, replica }: Pick<ReplicaSpec, 'config' | 'replica'>): string =>
  replica === 1 ? config.name : `${config.name}#${replica}`

export const createReplicaSpec = ({ replicas: _, ...spec }: ServiceSpec, replica: number): ReplicaSpec => ({ ...spec, replica })

/** The replicas of a service, in the order of their start: the first alone, so that a version that does not start fails with one attempt. */
export function batchReplicas(spec: ServiceSpec): ReplicaSpec[][] {
  const others = Array.from({ length: spec.replicas - 1 }, (_, at) => createReplicaSpec(spec, at + 2))
  return others.length === 0 ? [[createReplicaSpec(spec, 1)]] : [[createReplicaSpec(spec, 1)], others]
}

/** The replicas of the main service beyond the first, which has the port and the health check that the first was found to need. */
export function listMainReplicas(app: AppSpec): ReplicaSpec[] {
  const { artifact, main_config } = app
  if (!artifact || artifact.kind === 'static') return []
  return Array.from({ length: app.replicas - 1 }, (_, at) => ({
    config: {
      name: app.main_service ?? singleAppName,
      kind: 'web' as const,
      port: main_config?.port ?? null,
      ...(app.ports.length > 0 && { ports: app.ports }),
      is_public: true,
      restart: 'always' as const,
      health_check: main_config?.health_check ?? null,
    },
    artifact,
    owner_id: app.deployment_id,
    variables: app.variables,
    memory_mb: app.memory_mb,
    cpus: app.cpus,
    ...(app.node_labels && { node_labels: app.node_labels }),
    health_timeout_s: app.health.timeout_ms / 1_000,
    ...(app.service && { request: app.service }),
    replica: at + 2,
    health: app.health,
    listen_port: app.listen_port,
  }))
}

/** A process that ignores PORT listens on one port of this machine, so there can be only one. */
export function checkFixedPort(app: Pick<AppSpec, 'replicas' | 'listen_port'>, isOnHost: boolean): void {
  if (app.replicas > 1 && isOnHost && app.listen_port !== null)
    throw new StartFailure(
      'start_failed',
      `The app listens on port ${app.listen_port} and not on the one in the PORT variable, so this machine can run one replica of it, not ${app.replicas}.`,
      'Make the app listen on the port in PORT, or set replicas to 1.',
    )
}

/** Selects the replicas of a service beyond a number. */
export const isBeyond =
  (count: number) =>
  ({ spec }: { spec: ReplicaSpec }): boolean =>
    spec.replica > count

export const byReplica = (a: { spec: ReplicaSpec }, b: { spec: ReplicaSpec }): number => a.spec.replica - b.spec.replica

/** Like `Promise.all`, but waits for all before it throws. */
export async function joinAll(work: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) if (result.status === 'rejected') throw result.reason
}
