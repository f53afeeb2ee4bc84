import type Docker from 'dockerode'
import { type Clock, sleep, systemClock } from '../../lib/clock.ts'
import { rejectAfter } from '../docker/connection.ts'
import type { DockerEngine } from '../docker/engine.ts'
import { createReplicaExit } from '../exit.ts'
import type { ReplicaExit } from '../runtime.ts'

/** A run of a service on a node. */
export interface SwarmTask {
  id: string
  service_id: string
  /** Empty until it has a node. */
  node_id: string
  state: string
  /** What the swarm wants it to become. */
  desired_state: string
  message: string
  container_id: string
  exit_code: number | null
  ports: { target: number; published: number }[]
  /** Bytes of memory that the swarm keeps for it on its node. */
  reserved_bytes: number
  created_at: string
}

const endStates = ['complete', 'failed', 'rejected', 'shutdown', 'orphaned', 'remove']
const unwantedStates = ['shutdown', 'remove']

export const hasEnded = ({ state }: SwarmTask): boolean => endStates.includes(state)
/** Whether the swarm ends the task, because its node is lost or drained or its service changed. */
export const isUnwanted = ({ desired_state }: SwarmTask): boolean => unwantedStates.includes(desired_state)

export const readTaskExit = ({ exit_code }: SwarmTask): ReplicaExit => createReplicaExit(exit_code, null, false)

/** The tasks of services, oldest first. */
export async function listTasks(docker: Docker, filters: { service?: string[]; label?: string[] }): Promise<SwarmTask[]> {
  const tasks = (await docker.listTasks({ filters: JSON.stringify(filters) })) as RawTask[]
  return tasks.map(readTask).sort((a, b) => (a.created_at < b.created_at ? -1 : 1))
}

interface RawTask {
  ID: string
  ServiceID?: string
  NodeID?: string
  CreatedAt: string
  DesiredState: string
  Spec?: { Resources?: { Reservations?: { MemoryBytes?: number } } }
  Status: {
    State: string
    Err?: string
    Message?: string
    ContainerStatus?: { ContainerID?: string; ExitCode?: number }
    PortStatus?: { Ports?: { TargetPort: number; PublishedPort: number }[] }
  }
}

function readTask({ ID, ServiceID = '', NodeID = '', CreatedAt, DesiredState, Spec, Status }: RawTask): SwarmTask {
  const ports = new Map((Status.PortStatus?.Ports ?? []).map(({ TargetPort, PublishedPort }) => [TargetPort, PublishedPort]))
  return {
    id: ID,
    service_id: ServiceID,
    node_id: NodeID,
    state: Status.State,
    desired_state: DesiredState,
    message: Status.Err ?? '',
    container_id: Status.ContainerStatus?.ContainerID ?? '',
    exit_code: Status.ContainerStatus?.ContainerID ? (Status.ContainerStatus.ExitCode ?? null) : null,
    ports: [...ports].map(([target, published]) => ({ target, published })),
    reserved_bytes: Spec?.Resources?.Reservations?.MemoryBytes ?? 0,
    created_at: CreatedAt,
  }
}

const pollInterval_ms = 500
/** Also after a leader that was elected anew has answered late. */
const maxPause_ms = 2_000
const answerTimeout_ms = 5_000

export interface TaskPoller {
  /** Calls back with the tasks of a service after each poll, until the returned function is called. */
  watch(serviceId: string, onTasks: (tasks: SwarmTask[]) => Promise<void>): () => void
  close(): void
}

/**
 * Reads the states of all tasks again and again, because the engine has events of services only. Nothing is read while no service is watched. The real
 * clock, because the swarm is another program. `onInterval` is called at each interval meanwhile, also while the swarm does not answer.
 */
export function createTaskPoller(engine: DockerEngine, onInterval: () => void, clock: Clock = systemClock): TaskPoller {
  const watched = new Map<string, (tasks: SwarmTask[]) => Promise<void>>()
  const closing = new AbortController()
  let isRunning = false
  let isFailing = false

  const poll = async () => {
    // Later ones are not in the answer to this request.
    const asked = [...watched]
    const { docker } = await engine.connection()
    const tasks = await rejectAfter(answerTimeout_ms, listTasks(docker, engine.createOwnFilters()), clock)
    const byService = Map.groupBy(tasks, ({ service_id }) => service_id)
    await Promise.all(asked.flatMap(([id, onTasks]) => (watched.get(id) === onTasks ? [onTasks(byService.get(id) ?? [])] : [])))
  }
  const run = async ({ signal }: AbortController) => {
    isRunning = true
    const interval = clock.setInterval(onInterval, pollInterval_ms)
    while (watched.size > 0 && !signal.aborted) {
      const began = clock.monotonic()
      try {
        await poll()
        isFailing = false
      } catch (error) {
        // A swarm without a quorum answers nothing; what runs goes on.
        if (!isFailing) engine.options.log.warn('swarm_tasks_unread', { error })
        isFailing = true
      }
      // A large swarm is asked less often.
      const pause_ms = Math.min(maxPause_ms, 5 * (clock.monotonic() - began))
      await sleep(clock, Math.max(pollInterval_ms, pause_ms), signal).catch(() => {})
    }
    interval.cancel()
    isRunning = false
  }
  return {
    watch(serviceId, onTasks) {
      watched.set(serviceId, onTasks)
      if (!isRunning) void run(closing)
      return () => void (watched.get(serviceId) === onTasks && watched.delete(serviceId))
    },
    close() {
      watched.clear()
      closing.abort()
    },
  }
}
