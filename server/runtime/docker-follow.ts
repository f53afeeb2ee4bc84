import type { Readable } from 'node:stream'
import { sleep, systemClock } from '../lib/clock.ts'
import { within } from './docker-connect.ts'
import { isConnectionError, readable, removeContainer, statusOf, type Engine } from './docker-engine.ts'
import { createFrameScanner, createOutput } from './docker-frames.ts'
import { ranOutOfMemory } from './docker-memory.ts'
import { exitOf } from './exits.ts'
import { createLineSplitter } from './lines.ts'
import type { Exit, InstanceObserver } from './runtime.ts'

export interface Follower {
  /** Call it once the container runs: from then on its end is waited for. */
  started(): void
  /** Settles when the end was reported. */
  ended: Promise<void>
  /** Stops following; the container lives on. */
  close(): void
}

interface ContainerObserver extends InstanceObserver {
  /** Whether it is meant to be paused; one that somebody else paused goes on. */
  mayBeFrozen(): boolean
}

/** How long an end may go unnoticed when the engine forgets to tell it. */
const checkEvery_ms = 10_000

/**
 * Follows the output of a container to its very end and reports that once. From its start: attached before it runs, and read
 * in full after its end, as either alone loses lines now and then. After a crash of ours (`since_ms`): from the engine's log.
 * When the engine goes away the end is looked for again, with back-off, until it answers.
 */
export async function followContainer(engine: Engine, id: string, since_ms: number | null | 'start', observer: ContainerObserver): Promise<Follower> {
  const { clock = systemClock } = engine.options
  const closing = new AbortController()
  const output = createOutput(observer.onLine)
  const containerOf = async () => (await engine.connection()).docker.getContainer(id)
  let live: Readable | undefined

  /** Hands a stream on and resolves when it ends, breaks or is closed. */
  const read = (stream: Readable, write: (chunk: Buffer) => void): Promise<void> => {
    live = stream
    stream.on('data', write)
    return endOf(stream).then(() => broke.resolve())
  }
  /** Resolved when a reading ends: then it is worth a look whether the container has. */
  let broke = Promise.withResolvers<void>()

  const attached =
    since_ms === 'start'
      ? read(readable(await (await containerOf()).attach({ stream: true, stdout: true, stderr: true })), output.live().write)
      : undefined

  /** The output from the engine's log: what is there and what comes, to the end of the container. */
  const readLog = async () => {
    const container = await containerOf()
    await read(readable(await container.logs({ follow: true, stdout: true, stderr: true })), output.full().write)
  }

  /** For one that is adopted: the log with its times, as far as it is newer than `after`. The answer is the time of the last line. */
  const readSince = async (after: string): Promise<string> => {
    const container = await containerOf()
    const options = { follow: true as const, stdout: true, stderr: true, timestamps: true, since: Date.parse(after) / 1_000 }
    let newest = after
    const strip = (name: 'stdout' | 'stderr') =>
      createLineSplitter((line) => {
        // RFC 3339 with nine digits: their order is that of the text.
        const time = line.slice(0, line.indexOf(' '))
        if (time <= after) return
        if (time > newest) newest = time
        observer.onLine(name, line.slice(time.length + 1))
      })
    const lines = { stdout: strip('stdout'), stderr: strip('stderr') }
    await read(readable(await container.logs(options)), createFrameScanner((name, data) => lines[name].write(data)).write)
    lines.stdout.end()
    lines.stderr.end()
    return newest
  }

  const pause = (ms: number, by = clock) => sleep(by, ms, closing.signal).catch(() => {})
  const ended = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  let isOver = false

  /** All output, up to a full reading that began after the end: one that breaks off looks the same as one that is complete. */
  const readAll = async () => {
    let after = typeof since_ms === 'number' ? new Date(since_ms).toISOString() : ''
    await attached
    if (attached) await Promise.race([over.promise, pause(100)])
    while (!closing.signal.aborted) {
      const isLast = isOver
      try {
        if (after) after = await readSince(after)
        else await readLog()
        if (isLast) return
      } catch (error) {
        if (statusOf(error) === 404) return
        await pause(500)
      }
      await Promise.race([over.promise, pause(100)])
    }
  }

  const waitForEnd = async (): Promise<Exit | undefined> => {
    for (let pause_ms = 250; !closing.signal.aborted; pause_ms = Math.min(5_000, pause_ms * 2)) {
      const round = new AbortController()
      try {
        const { docker } = await engine.connection()
        const container = docker.getContainer(id)
        // A wait that was answered with a head and then cut off never settles; so it is not relied upon.
        const waiting = container.wait({ abortSignal: AbortSignal.any([closing.signal, round.signal]) })
        await Promise.race([waiting, broke.promise, pause(checkEvery_ms)])
        broke = Promise.withResolvers()
        waiting.catch(() => {})
        const { State } = await within(5_000, container.inspect())
        if (!State.Running) return exitOf(State.ExitCode, null, await ranOutOfMemory(docker, id, State))
        if (State.Paused && !observer.mayBeFrozen()) await container.unpause().catch(() => {})
        pause_ms = 125
      } catch (error) {
        // Removed behind our back: that is an end too.
        if (statusOf(error) === 404) return exitOf(null, 'SIGKILL', false)
        if (closing.signal.aborted) break
        if (isConnectionError(error)) engine.lost()
        await pause(pause_ms)
      } finally {
        round.abort()
      }
    }
    return undefined
  }

  const watch = async () => {
    const reading = readAll().catch(() => {})
    const exit = await waitForEnd()
    isOver = true
    over.resolve()
    if (exit) {
      // Its own log ends by itself; a stream that was lost on the way must not keep the end from being told. Reading takes real time.
      await Promise.race([reading, pause(10_000, systemClock)])
      live?.destroy()
      output.end()
      // An ended container is never started again: a restart makes a new one.
      await containerOf()
        .then((container) => (closing.signal.aborted ? undefined : removeContainer(container)))
        .catch(() => {})
      if (!closing.signal.aborted) observer.onExit(exit)
    }
    ended.resolve()
  }

  return {
    started: () => void watch(),
    ended: ended.promise,
    close() {
      closing.abort()
      live?.destroy()
      ended.resolve()
    },
  }
}

const endOf = (stream: Readable): Promise<void> =>
  new Promise((resolve) => {
    stream
      .once('end', resolve)
      .once('close', resolve)
      .once('error', () => resolve())
  })
