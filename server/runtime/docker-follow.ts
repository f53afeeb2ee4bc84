import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { isConnectionError, readable, removeContainer, statusOf, type Engine } from './docker-engine.ts'
import { createFrameScanner, createOutput } from './docker-frames.ts'
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

/**
 * Follows the output of a container to its very end and reports that once. From its start: attached before it runs, and read
 * in full after its end, as either alone loses lines now and then. After a crash of ours (`since_ms`): from the engine's log.
 * When the engine goes away the end is looked for again, with back-off, until it answers.
 */
export async function followContainer(engine: Engine, id: string, since_ms: number | null | 'start', observer: InstanceObserver): Promise<Follower> {
  const closing = new AbortController()
  const output = createOutput(observer.onLine)
  let live: Readable | undefined
  let liveEnded: Promise<void> = Promise.resolve()

  if (since_ms === 'start') {
    const { docker } = await engine.connection()
    live = readable(await docker.getContainer(id).attach({ stream: true, stdout: true, stderr: true }))
    live.on('data', output.write)
    liveEnded = endOf(live)
  }

  /** The rest of the output, from the engine's log. */
  const catchUp = async () => {
    const { docker } = await engine.connection()
    const stream = readable(await docker.getContainer(id).logs({ follow: true, stdout: true, stderr: true }))
    const write = output.catchUp()
    stream.on('data', write)
    await endOf(stream)
  }

  /** For an adopted one: the log with times, as far as it is newer than what the caller has. */
  const readSince = async (after_ms: number | null) => {
    const { docker } = await engine.connection()
    const options = { follow: true as const, stdout: true, stderr: true, timestamps: true, ...(after_ms === null ? {} : { since: after_ms / 1_000 }) }
    const stream = readable(await docker.getContainer(id).logs(options))
    live = stream
    const strip = (name: 'stdout' | 'stderr') =>
      createLineSplitter((line) => {
        const space = line.indexOf(' ')
        if (after_ms === null || Date.parse(line.slice(0, space)) > after_ms) observer.onLine(name, line.slice(space + 1))
      })
    const lines = { stdout: strip('stdout'), stderr: strip('stderr') }
    const scanner = createFrameScanner((name, data) => lines[name].write(data))
    stream.on('data', scanner.write)
    await endOf(stream)
    lines.stdout.end()
    lines.stderr.end()
  }

  const waitForEnd = async (): Promise<Exit | undefined> => {
    for (let pause_ms = 250; !closing.signal.aborted; pause_ms = Math.min(5_000, pause_ms * 2)) {
      try {
        const { docker } = await engine.connection()
        await docker.getContainer(id).wait({ abortSignal: closing.signal })
        const { State } = await docker.getContainer(id).inspect()
        if (!State.Running) return exitOf(State.ExitCode, null, State.OOMKilled)
      } catch (error) {
        // Removed behind our back: that is an end too.
        if (statusOf(error) === 404) return { code: null, signal: 'SIGKILL', out_of_memory: false }
        if (closing.signal.aborted) break
        if (isConnectionError(error)) engine.lost()
        await delay(pause_ms, undefined, { signal: closing.signal }).catch(() => {})
      }
    }
    return undefined
  }

  let settle = () => {}
  const ended = new Promise<void>((resolve) => {
    settle = resolve
  })

  const watch = async () => {
    const reading = since_ms === 'start' ? Promise.resolve() : readSince(since_ms).catch(() => {})
    const exit = await waitForEnd()
    if (!exit) return settle()
    await Promise.race([Promise.all([reading, liveEnded]), delay(2_000, undefined, { signal: closing.signal }).catch(() => {})])
    if (since_ms === 'start') await catchUp().catch(() => {})
    live?.destroy()
    output.end()
    const { docker } = await engine.connection().catch(() => ({ docker: undefined }))
    // An ended container is never started again: a restart makes a new one.
    if (docker && !closing.signal.aborted) await removeContainer(docker, id).catch(() => {})
    if (!closing.signal.aborted) observer.onExit(exit)
    settle()
  }

  return {
    started: () => void watch(),
    ended,
    close() {
      closing.abort()
      live?.destroy()
      settle()
    },
  }
}

const endOf = (stream: Readable): Promise<void> =>
  new Promise((resolve) => {
    stream.once('end', resolve).once('close', resolve).once('error', () => resolve())
  })
