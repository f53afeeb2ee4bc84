import type { Readable } from 'node:stream'
import { sleep, systemClock } from '../../lib/clock.ts'
import { rejectAfter } from './connection.ts'
import { removeReplica } from './service-container.ts'
import { toReadable, type DockerEngine } from './engine.ts'
import { isConnectionError, getStatusCode } from './errors.ts'
import { createContainerOutput, createTimestampedReader } from './stream-demuxer.ts'
import { wasOomKilled } from './oom.ts'
import { createReplicaExit } from '../exit.ts'
import type { ReplicaExit, ReplicaObserver } from '../runtime.ts'

export interface ContainerMonitor {
  /** Must be called once the container runs; from then on the monitor waits for its end. */
  notifyStarted(): void
  /** Resolves once the end was reported. */
  ended: Promise<void>
  /** Stops monitoring; the container continues. */
  close(): void
}

interface ContainerObserver extends ReplicaObserver {
  /** Whether the container should be paused; a container that another program paused is resumed. */
  shouldBePaused(): boolean
}

/** The longest time an end goes unnoticed when Docker sends no event. */
const checkInterval_ms = 10_000

/**
 * Follows the output of a container to its end and reports the end once. A new container is attached before its start and its log is read in full
 * after its end, because each of the two sometimes loses lines. After a crash of the platform (`since_ms`), the log is read from there. When Docker
 * is not available, the monitor retries with back-off.
 */
export async function monitorContainer(
  engine: DockerEngine,
  id: string,
  since_ms: number | null | 'start',
  observer: ContainerObserver,
): Promise<ContainerMonitor> {
  const { clock = systemClock } = engine.options
  const closing = new AbortController()
  const output = createContainerOutput(observer.onLine)
  const getContainer = async () => (await engine.connection()).docker.getContainer(id)
  let live: Readable | undefined

  /** Forwards a stream and resolves when it ends, breaks or is closed. */
  const read = (stream: Readable, write: (chunk: Buffer) => void): Promise<void> => {
    live = stream
    stream.on('data', write)
    return waitForStreamEnd(stream).then(() => streamEnded.resolve())
  }
  /** Resolves when a stream ends, which may mean that the container has ended. */
  let streamEnded = Promise.withResolvers<void>()

  const attached =
    since_ms === 'start'
      ? read(toReadable(await (await getContainer()).attach({ stream: true, stdout: true, stderr: true })), output.createLiveReader().write)
      : undefined

  /** Reads existing and new output from the log until the container ends. */
  const readLog = async () => {
    const container = await getContainer()
    await read(toReadable(await container.logs({ follow: true, stdout: true, stderr: true })), output.createFullReader().write)
  }

  /** For an adopted container: reads log lines with timestamps newer than `after`. Returns the time of the last line. */
  const readSince = async (after: string): Promise<string> => {
    const container = await getContainer()
    const options = { follow: true as const, stdout: true, stderr: true, timestamps: true, since: Date.parse(after) / 1_000 }
    const reader = createTimestampedReader(after, observer.onLine)
    await read(toReadable(await container.logs(options)), reader.write)
    reader.end()
    return reader.newest()
  }

  const pause = (ms: number, clockUsed = clock) => sleep(clockUsed, ms, closing.signal).catch(() => {})
  const ended = Promise.withResolvers<void>()
  const exited = Promise.withResolvers<void>()
  let hasExited = false

  /** Reads all output, ending with a full read that started after the end, because a truncated read looks like a complete one. */
  const readAll = async () => {
    let after = typeof since_ms === 'number' ? new Date(since_ms).toISOString() : ''
    await attached
    if (attached) await Promise.race([exited.promise, pause(100)])
    while (!closing.signal.aborted) {
      const isLast = hasExited
      try {
        if (after) after = await readSince(after)
        else await readLog()
        if (isLast) return
      } catch (error) {
        if (getStatusCode(error) === 404) return
        await pause(500)
      }
      await Promise.race([exited.promise, pause(100)])
    }
  }

  const waitForEnd = async (): Promise<ReplicaExit | undefined> => {
    for (let pause_ms = 250; !closing.signal.aborted; pause_ms = Math.min(5_000, pause_ms * 2)) {
      const attempt = new AbortController()
      try {
        const { docker } = await engine.connection()
        const container = docker.getContainer(id)
        // A wait whose response is cut off after its head never settles, so there is also a periodic check.
        const waiting = container.wait({ abortSignal: AbortSignal.any([closing.signal, attempt.signal]) })
        await Promise.race([waiting, streamEnded.promise, pause(checkInterval_ms)])
        streamEnded = Promise.withResolvers()
        waiting.catch(() => {})
        const { State } = await rejectAfter(5_000, container.inspect())
        if (!State.Running) return createReplicaExit(State.ExitCode, null, await wasOomKilled(docker, id, State))
        if (State.Paused && !observer.shouldBePaused()) await container.unpause().catch(() => {})
        pause_ms = 125
      } catch (error) {
        // The container was removed by another program, which counts as an end.
        if (getStatusCode(error) === 404) return createReplicaExit(null, 'SIGKILL', false)
        if (closing.signal.aborted) break
        if (isConnectionError(error)) engine.forgetConnection()
        await pause(pause_ms)
      } finally {
        attempt.abort()
      }
    }
    return undefined
  }

  const monitor = async () => {
    const reading = readAll().catch(() => {})
    const exit = await waitForEnd()
    hasExited = true
    exited.resolve()
    if (exit) {
      // The log ends by itself; a lost stream must not delay the report of the end. Reading takes real time.
      await Promise.race([reading, pause(10_000, systemClock)])
      live?.destroy()
      output.end()
      // An ended container is never started again, because a restart creates a new one.
      await engine
        .connection()
        .then(({ docker }) => (closing.signal.aborted ? undefined : removeReplica(engine, docker, docker.getContainer(id))))
        .catch(() => {})
      if (!closing.signal.aborted) observer.onExit(exit)
    }
    ended.resolve()
  }

  return {
    notifyStarted: () => void monitor(),
    ended: ended.promise,
    close() {
      closing.abort()
      live?.destroy()
      ended.resolve()
    },
  }
}

const waitForStreamEnd = (stream: Readable): Promise<void> =>
  new Promise((resolve) => {
    stream
      .once('end', resolve)
      .once('close', resolve)
      .once('error', () => resolve())
  })
