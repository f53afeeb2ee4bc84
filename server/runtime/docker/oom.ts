import type Docker from 'dockerode'
import { rejectAfter } from './connection.ts'
import { toReadable } from './engine.ts'

/** How long after an end Docker may still report that memory was the cause. */
const oomEventDelay_ms = 1_000

/**
 * Whether a container ended because it ran out of memory. In about 1 % of cases containerd reports the end before the cause (containerd#12260): the
 * flag stays false and the cause is only among the events.
 */
export async function wasOomKilled(docker: Docker, id: string, state: Docker.ContainerInspectInfo['State']): Promise<boolean> {
  if (state.OOMKilled || state.ExitCode !== 137) return state.OOMKilled
  // Docker's own clock: it ends its response at `until`, immediately when that has passed.
  const since = Math.floor(Date.parse(state.StartedAt) / 1_000)
  const until = (Date.parse(state.FinishedAt) + oomEventDelay_ms) / 1_000
  try {
    const events = toReadable(await rejectAfter(5_000, docker.getEvents({ since, until, filters: { container: [id], event: ['oom'] } })))
    return await rejectAfter(5_000, hasAnyItem(events)).finally(() => events.destroy())
  } catch {
    // Killed for an unknown reason.
    return false
  }
}

async function hasAnyItem(stream: AsyncIterable<unknown>): Promise<boolean> {
  for await (const _ of stream) return true
  return false
}
