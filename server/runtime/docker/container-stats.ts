import type Docker from 'dockerode'
import type { Runtime } from '../runtime.ts'

interface StatsSample {
  at_ms: number
  cpu_ms: number
  cpu_percent: number
}

/** Below this interval the previous result is returned. */
const minimumInterval_ms = 100

/**
 * Resource use of a container from a single sample of its counters, because Docker takes one to two seconds to compare two samples itself. The
 * sample is compared with the previous one, or with zero at the container's start.
 */
export function createContainerStats(): {
  read(replicaId: string, container: Docker.Container, options?: Parameters<Runtime['usage']>[1]): ReturnType<Runtime['usage']>
  forget(replicaId: string): void
} {
  const samples = new Map<string, StatsSample>()

  return {
    async read(replicaId, container, { isPassive } = { isPassive: false }) {
      const stats = await container.stats({ stream: false, 'one-shot': true }).catch(() => undefined)
      if (!stats?.memory_stats?.usage) {
        samples.delete(replicaId)
        return null
      }
      const before = samples.get(replicaId) ?? (await createStartSample(container))
      const now = createSample(stats, before)
      if (!isPassive) samples.set(replicaId, now)
      // Memory that the kernel can reclaim is not counted.
      const cache = stats.memory_stats.stats?.total_inactive_file ?? stats.memory_stats.stats?.inactive_file ?? 0
      return {
        cpu_percent: Math.round(now.cpu_percent * 10) / 10,
        cpu_ms: now.cpu_ms,
        memory_mb: Math.round((stats.memory_stats.usage - cache) / 1024 / 1024),
      }
    },
    forget: (replicaId) => void samples.delete(replicaId),
  }
}

function createSample(stats: Docker.ContainerStats, before: StatsSample): StatsSample {
  const at_ms = Date.parse(stats.read)
  const cpu_ms = stats.cpu_stats.cpu_usage.total_usage / 1e6
  const elapsed_ms = at_ms - before.at_ms
  if (elapsed_ms < minimumInterval_ms) return before
  return { at_ms, cpu_ms, cpu_percent: Math.max(0, (100 * (cpu_ms - before.cpu_ms)) / elapsed_ms) }
}

async function createStartSample(container: Docker.Container): Promise<StatsSample> {
  const { State } = await container.inspect()
  return { at_ms: Date.parse(State.StartedAt), cpu_ms: 0, cpu_percent: 0 }
}
