import { readMachineMemory } from '../machine-memory.ts'
import type { DockerEngine } from './engine.ts'

/** The memory that more containers could use, in MB: what this machine has left, or, of an engine elsewhere, its total without that of its containers. */
export async function readEngineMemory(engine: DockerEngine): Promise<number | null> {
  const { docker, hasDirectNetwork, memory_bytes } = await engine.connection()
  if (hasDirectNetwork) return readMachineMemory()
  const containers = await docker.listContainers()
  const used = await Promise.all(
    containers.map(async ({ Id }) => {
      const stats = await docker.getContainer(Id).stats({ stream: false, 'one-shot': true })
      return stats.memory_stats.usage ?? 0
    }),
  )
  return (memory_bytes - used.reduce((sum, bytes) => sum + bytes, 0)) / 2 ** 20
}
