import type Docker from 'dockerode'
import { rejectAfter } from './connection.ts'
import { toReadable } from './engine.ts'

/** How long after an end the engine may still tell that memory was the reason. */
const oomEventDelay_ms = 1_000

/**
 * Whether a container that has ended did so because its memory ran out. About once in a hundred times containerd tells the end
 * first and the reason after it (containerd#12260): then the flag stays false for good, and the reason is among the events.
 */
export async function wasOomKilled(docker: Docker, id: string, state: Docker.ContainerInspectInfo['State']): Promise<boolean> {
  if (state.OOMKilled || state.ExitCode !== 137) return state.OOMKilled
  // By the engine's own clock: it ends its answer at `until`, and at once when that is over.
  const since = Math.floor(Date.parse(state.StartedAt) / 1_000)
  const until = (Date.parse(state.FinishedAt) + oomEventDelay_ms) / 1_000
  try {
    const events = toReadable(await rejectAfter(5_000, docker.getEvents({ since, until, filters: { container: [id], event: ['oom'] } })))
    return await rejectAfter(5_000, hasAnyItem(events)).finally(() => events.destroy())
  } catch {
    // Killed, and nobody says why.
    return false
  }
}

async function hasAnyItem(stream: AsyncIterable<unknown>): Promise<boolean> {
  for await (const _ of stream) return true
  return false
}
