import type Docker from 'dockerode'
import type { Engine } from './docker-engine.ts'

interface Sample {
  at_ms: number
  processor_ms: number
  cpu_percent: number
}

/** Too short a time to divide by: the answer is that of before. */
const least_ms = 100

/**
 * What a container uses. One look at its counters: an engine that has to compare two of its own takes a second or two (old
 * ones take one all the same). Compared with our last look, or with its start, when it had used nothing.
 */
export function createUsage(engine: Engine): {
  look(instanceId: string): Promise<{ cpu_percent: number; memory_mb: number } | null>
  forget(instanceId: string): void
} {
  const samples = new Map<string, Sample>()

  return {
    async look(instanceId) {
      const { docker } = await engine.connection()
      const container = docker.getContainer(instanceId)
      const stats = await container.stats({ stream: false, 'one-shot': true }).catch(() => undefined)
      if (!stats?.memory_stats?.usage) {
        samples.delete(instanceId)
        return null
      }
      const before = samples.get(instanceId) ?? (await atItsStart(container))
      const now = sampleOf(stats, before)
      samples.set(instanceId, now)
      // What the kernel can take back at once is no need of the app.
      const cache = stats.memory_stats.stats?.total_inactive_file ?? stats.memory_stats.stats?.inactive_file ?? 0
      return { cpu_percent: Math.round(now.cpu_percent * 10) / 10, memory_mb: Math.round((stats.memory_stats.usage - cache) / 1024 / 1024) }
    },
    forget: (instanceId) => void samples.delete(instanceId),
  }
}

function sampleOf(stats: Docker.ContainerStats, before: Sample): Sample {
  const at_ms = Date.parse(stats.read)
  const processor_ms = stats.cpu_stats.cpu_usage.total_usage / 1e6
  const spent_ms = at_ms - before.at_ms
  if (spent_ms < least_ms) return before
  return { at_ms, processor_ms, cpu_percent: Math.max(0, (100 * (processor_ms - before.processor_ms)) / spent_ms) }
}

async function atItsStart(container: Docker.Container): Promise<Sample> {
  const { State } = await container.inspect()
  return { at_ms: Date.parse(State.StartedAt), processor_ms: 0, cpu_percent: 0 }
}
