import type { Readable } from 'node:stream'
import { sleep, systemClock } from '../../lib/clock.ts'
import { rejectAfter } from './connection.ts'
import { isConnectionError, toReadable, removeContainer, getStatusCode, type DockerEngine } from './engine.ts'
import { createStreamDemuxer, createContainerOutput } from './stream-demuxer.ts'
import { wasOomKilled } from './oom.ts'
import { createReplicaExit } from '../exit.ts'
import { createLineSplitter } from '../line-splitter.ts'
import type { ReplicaExit, ReplicaObserver } from '../runtime.ts'

export interface ContainerMonitor {
  /** Call it once the container runs: from then on its end is waited for. */
  notifyStarted(): void
  /** Settles when the end was reported. */
  ended: Promise<void>
  /** Stops following; the container lives on. */
  close(): void
}

interface ContainerObserver extends ReplicaObserver {
  /** Whether it is meant to be paused; one that somebody else paused goes on. */
  shouldBePaused(): boolean
}

/** How long an end may go unnoticed when the engine forgets to tell it. */
const checkInterval_ms = 10_000

/**
 * Follows the output of a container to its very end and reports that once. From its start: attached before it runs, and read
 * in full after its end, as either alone loses lines now and then. After a crash of ours (`since_ms`): from the engine's log.
 * When the engine goes away the end is looked for again, with back-off, until it answers.
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

  /** Hands a stream on and resolves when it ends, breaks or is closed. */
  const read = (stream: Readable, write: (chunk: Buffer) => void): Promise<void> => {
    live = stream
    stream.on('data', write)
    return waitForStreamEnd(stream).then(() => streamEnded.resolve())
  }
  /** Resolved when a reading ends: then it is worth a look whether the container has. */
  let streamEnded = Promise.withResolvers<void>()

  const attached =
    since_ms === 'start'
      ? read(toReadable(await (await getContainer()).attach({ stream: true, stdout: true, stderr: true })), output.createLiveReader().write)
      : undefined

  /** The output from the engine's log: what is there and what comes, to the end of the container. */
  const readLog = async () => {
    const container = await getContainer()
    await read(toReadable(await container.logs({ follow: true, stdout: true, stderr: true })), output.createFullReader().write)
  }

  /** For one that is adopted: the log with its times, as far as it is newer than `after`. The answer is the time of the last line. */
  const readSince = async (after: string): Promise<string> => {
    const container = await getContainer()
    const options = { follow: true as const, stdout: true, stderr: true, timestamps: true, since: Date.parse(after) / 1_000 }
    let newest = after
    const createTimestampStripper = (name: 'stdout' | 'stderr') =>
      createLineSplitter((line) => {
        // RFC 3339 with nine digits: their order is that of the text.
        const time = line.slice(0, line.indexOf(' '))
        if (time <= after) return
        if (time > newest) newest = time
        observer.onLine(name, line.slice(time.length + 1))
      })
    const lines = { stdout: createTimestampStripper('stdout'), stderr: createTimestampStripper('stderr') }
    await read(toReadable(await container.logs(options)), createStreamDemuxer((name, data) => lines[name].write(data)).write)
    lines.stdout.end()
    lines.stderr.end()
    return newest
  }

  const pause = (ms: number, clockUsed = clock) => sleep(clockUsed, ms, closing.signal).catch(() => {})
  const ended = Promise.withResolvers<void>()
  const exited = Promise.withResolvers<void>()
  let hasExited = false

  /** All output, up to a full reading that began after the end: one that breaks off looks the same as one that is complete. */
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
        // A wait that was answered with a head and then cut off never settles; so it is not relied upon.
        const waiting = container.wait({ abortSignal: AbortSignal.any([closing.signal, attempt.signal]) })
        await Promise.race([waiting, streamEnded.promise, pause(checkInterval_ms)])
        streamEnded = Promise.withResolvers()
        waiting.catch(() => {})
        const { State } = await rejectAfter(5_000, container.inspect())
        if (!State.Running) return createReplicaExit(State.ExitCode, null, await wasOomKilled(docker, id, State))
        if (State.Paused && !observer.shouldBePaused()) await container.unpause().catch(() => {})
        pause_ms = 125
      } catch (error) {
        // Removed behind our back: that is an end too.
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
      // Its own log ends by itself; a stream that was lost on the way must not keep the end from being told. Reading takes real time.
      await Promise.race([reading, pause(10_000, systemClock)])
      live?.destroy()
      output.end()
      // An ended container is never started again: a restart makes a new one.
      await getContainer()
        .then((container) => (closing.signal.aborted ? undefined : removeContainer(container)))
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
