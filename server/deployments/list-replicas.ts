import type { ServiceReplica } from '../contract/services.ts'
import type { ReplicaLoad } from '../edge/edge.ts'
import { withTimeout } from '../lib/clock.ts'
import type { Endpoint, Replica } from '../runtime/runtime.ts'
import type { DeploymentContext } from './context.ts'
import type { EnvironmentState } from './supervisor.ts'

const usageTimeout_ms = 1_500

interface KnownReplica extends Pick<ServiceReplica, 'replica' | 'status' | 'restarts' | 'last_exit_code'> {
  id: string | undefined
  node: string | null
  endpoint: Endpoint | null | undefined
}

/** The replicas of the main service, then those of each other service, in the order of the version. Empty for a service with one. */
export function listReplicas(context: DeploymentContext, state: EnvironmentState): Promise<ServiceReplica[][]> {
  const { spec } = state
  const groups = [
    { wanted: spec.replicas, host: context.routes.getHost(spec), replicas: listMain(state) },
    ...spec.services.map(({ config: { name }, replicas }) => ({
      wanted: replicas,
      host: context.routes.findServiceHost(spec, name),
      replicas: listOthers(state, name),
    })),
  ]
  return Promise.all(
    groups.map(async ({ wanted, host, replicas }) => {
      const load = host === undefined ? [] : context.edge.listReplicaLoad(host)
      return wanted > 1 || replicas.length > 1 ? Promise.all(replicas.map((one) => present(context, state, one, load))) : []
    }),
  )
}

function listMain(state: EnvironmentState): KnownReplica[] {
  const replica: Replica | null = state.main_replica
  const first: KnownReplica = {
    replica: 1,
    status: state.is_asleep ? 'asleep' : state.is_main_running ? 'running' : 'starting',
    restarts: state.main_exits,
    last_exit_code: state.main_last_exit_code,
    id: replica?.id,
    node: replica?.node ?? null,
    endpoint: replica,
  }
  return [first, ...listOthers(state, state.spec.main_service)]
}

const listOthers = (state: EnvironmentState, name: string | null): KnownReplica[] =>
  state.listReplicas(name).map(({ spec, status, exits, last_exit, replica, endpoint }) => ({
    replica: spec.replica,
    status: state.is_asleep ? 'asleep' : status,
    restarts: exits,
    last_exit_code: last_exit?.code ?? null,
    id: replica?.id,
    node: replica?.node ?? null,
    endpoint,
  }))

async function present(
  context: DeploymentContext,
  { spec }: EnvironmentState,
  { id, endpoint, ...known }: KnownReplica,
  load: readonly ReplicaLoad[],
): Promise<ServiceReplica> {
  const own = load.find(({ host, port }) => host === endpoint?.host && port === endpoint.port)
  const usage =
    id === undefined || known.status === 'asleep'
      ? null
      : await withTimeout(
          context.clock,
          usageTimeout_ms,
          context
            .runtime(spec.runtime)
            .usage(id, { isPassive: true })
            .catch(() => null),
        )
  return {
    ...known,
    in_flight: own?.in_flight ?? null,
    is_ejected: own?.is_ejected ?? false,
    cpu_percent: usage?.cpu_percent ?? null,
    memory_mb: usage?.memory_mb ?? null,
  }
}
