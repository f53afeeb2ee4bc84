import type { Readable } from 'node:stream'
import { sleep, systemClock } from '../../lib/clock.ts'
import { rejectAfter } from '../docker/connection.ts'
import { type DockerEngine, toReadable } from '../docker/engine.ts'
import { wasOomKilled } from '../docker/oom.ts'
import { createContainerOutput, createTimestampedReader } from '../docker/stream-demuxer.ts'
import { createReplicaExit } from '../exit.ts'
import type { ReplicaExit, ReplicaObserver } from '../runtime.ts'
import { listNodes, requireManager } from './cluster.ts'
import type { NodeAgents } from './node-agents.ts'
import type { NodeProbes } from './node-probes.ts'
import { hasEnded, isUnwanted, readTaskExit, type SwarmTask, type TaskPoller } from './tasks.ts'

export interface ServiceMonitor {
  /** Resolves once the end was reported. */
  ended: Promise<void>
  /** Stops monitoring; the service continues. */
  close(): void
}

/** A log takes no longer, so that the report of an end does not wait for a node that has just been lost. */
const lastRead_ms = 10_000

/**
 * Follows the log of a service and reports the end of its task once. The log is read in full after the end, because a stream that broke off looks like
 * a complete one. `since_ms`: of a service that is taken over; lines after that time are reported, or all if it is null.
 */
export function monitorService(
  engine: DockerEngine,
  { poller, connect, isSilent }: { poller: TaskPoller } & Pick<NodeAgents, 'connect'> & Pick<NodeProbes, 'isSilent'>,
  { service_id, task_id, since_ms }: { service_id: string; task_id: string; since_ms: number | null },
  observer: ReplicaObserver,
  removeService: () => Promise<void>,
): ServiceMonitor {
  const closing = new AbortController()
  const exited = new AbortController()
  const ended = Promise.withResolvers<void>()
  const reader = since_ms === null ? createFullReader(observer) : createReaderSince(observer, since_ms)
  let live: Readable | undefined

  const read = async (opened: Promise<NodeJS.ReadableStream>) => {
    const stream = toReadable(await opened)
    if (exited.signal.aborted) return void stream.destroy()
    live = stream
    stream.on('data', reader.open())
    await new Promise<void>((resolve) =>
      stream
        .once('end', resolve)
        .once('close', resolve)
        .once('error', () => resolve()),
    )
  }
  const follow = async () => {
    while (!closing.signal.aborted && !exited.signal.aborted) {
      const { docker } = await engine.connection()
      const opened = docker.getService(service_id).logs({ ...reader.options(), follow: true, stdout: true, stderr: true })
      await read(opened).catch(() => {})
      await sleep(systemClock, 250, exited.signal).catch(() => {})
    }
  }
  /** From the container if it is on this node, because the swarm may end a log before its last lines. */
  const readRest = async ({ node_id, container_id }: SwarmTask): Promise<true> => {
    const { docker, swarm } = await requireManager(engine)
    const options = { ...reader.options(), follow: false as const, stdout: true, stderr: true }
    const isOwn = node_id === swarm.node_id && container_id !== ''
    // A swarm can end a log before its last lines, but hardly twice.
    for (let times = 0; times < (isOwn ? 1 : 2); times++) {
      const log: unknown = await (isOwn ? docker.getContainer(container_id) : docker.getService(service_id)).logs(options)
      reader.open()(log as Buffer)
    }
    return true
  }
  /** Reads the rest of a log. Returns the line that says that lines may be missing, because a node that is lost does not answer for its log. */
  const finishLog = async (task: SwarmTask): Promise<string | undefined> => {
    const isRead = hasEnded(task) && (await rejectAfter(lastRead_ms, readRest(task)).catch(() => false))
    if (isRead) return undefined
    const node = await rejectAfter(lastRead_ms, findNodeName(engine, task.node_id)).catch(() => undefined)
    return `[homeport] The last lines of this replica could not be read from its node${node === undefined ? '' : `, ${node},`} and may be missing here.`
  }
  const following = follow()

  const report = async (exit: ReplicaExit, task: SwarmTask | undefined) => {
    unwatch()
    exited.abort()
    live?.destroy()
    await following
    const gap = task && (await finishLog(task))
    reader.end()
    if (!closing.signal.aborted) {
      if (gap !== undefined) observer.onLine('stderr', gap)
      // An ended service is never started again, because a restart creates a new one. It need not wait for a swarm that elects a leader.
      void removeService()
      observer.onExit(exit)
    }
    ended.resolve()
  }

  const unwatch = poller.watch(service_id, async (tasks) => {
    const task = tasks.find(({ id }) => id === task_id)
    const exit = await findExit(engine, { connect, isSilent }, task)
    if (exit && !exited.signal.aborted && !closing.signal.aborted) void report(exit, task)
  })

  return {
    ended: ended.promise,
    close() {
      closing.abort()
      exited.abort()
      unwatch()
      live?.destroy()
      ended.resolve()
    },
  }
}

/** How a task has ended; undefined while it runs. */
async function findExit(
  engine: DockerEngine,
  { connect, isSilent }: Pick<NodeAgents, 'connect'> & Pick<NodeProbes, 'isSilent'>,
  task: SwarmTask | undefined,
): Promise<ReplicaExit | undefined> {
  // Somebody else removed the service.
  if (!task) return createReplicaExit(null, 'SIGKILL', false)
  const { docker, swarm } = await requireManager(engine)
  if (hasEnded(task)) {
    const exit = readTaskExit(task)
    if (exit.code !== 137) return exit
    const node = await connect(task.node_id).catch(() => undefined)
    const state = await node
      ?.getContainer(task.container_id)
      .inspect()
      .then(({ State }) => State)
      .catch(() => undefined)
    const isOwnNode = task.node_id === swarm.node_id
    return { ...exit, out_of_memory: state !== undefined && (isOwnNode ? await wasOomKilled(docker, task.container_id, state) : state.OOMKilled) }
  }
  if (isSilent(task.node_id)) return createReplicaExit(null, 'SIGKILL', false)
  if (!isUnwanted(task)) return undefined
  // A node that is drained still ends its tasks; one that is down never reports their end.
  const node = (await listNodes(docker, swarm)).find(({ id }) => id === task.node_id)
  return node?.is_ready ? undefined : createReplicaExit(null, 'SIGKILL', false)
}

async function findNodeName(engine: DockerEngine, id: string): Promise<string | undefined> {
  const { docker, swarm } = await requireManager(engine)
  return (await listNodes(docker, swarm)).find((node) => node.id === id)?.name
}

interface LogReader {
  options(): { timestamps?: boolean; since?: number }
  open(): (chunk: Buffer) => void
  end(): void
}

/** Each read is from the beginning, and skips what an earlier one has delivered. */
function createFullReader(observer: ReplicaObserver): LogReader {
  const output = createContainerOutput(observer.onLine)
  return { options: () => ({}), open: () => output.createFullReader().write, end: output.end }
}

function createReaderSince(observer: ReplicaObserver, since_ms: number): LogReader {
  let reader = createTimestampedReader(`${new Date(since_ms).toISOString().slice(0, -1)}000000Z`, observer.onLine)
  return {
    options: () => ({ timestamps: true, since: Math.floor(Date.parse(reader.newest()) / 1_000) }),
    open() {
      reader.end()
      reader = createTimestampedReader(reader.newest(), observer.onLine)
      return reader.write
    },
    end: () => reader.end(),
  }
}
