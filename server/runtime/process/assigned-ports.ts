import type { PortAllocator } from '../ports.ts'
import type { AdditionalPort } from '../runtime.ts'

/** Ports of this machine for one program. */
export interface AssignedPorts {
  port: number
  /** By the port in the request. */
  additionalPorts: ReadonlyMap<number, number>
}

export async function assignPorts(allocator: PortAllocator, wanted: readonly number[] = []): Promise<AssignedPorts> {
  const port = await allocator.allocate()
  const additionalPorts = new Map<number, number>()
  try {
    for (const one of wanted) additionalPorts.set(one, await allocator.allocate())
    return { port, additionalPorts }
  } catch (error) {
    releasePorts(allocator, { port, additionalPorts })
    throw error
  }
}

export function releasePorts(allocator: PortAllocator, { port, additionalPorts }: AssignedPorts): void {
  for (const one of [port, ...additionalPorts.values()]) allocator.release(one)
}

export const listAdditionalPorts = ({ additionalPorts }: AssignedPorts): AdditionalPort[] =>
  [...additionalPorts].map(([port, assigned_port]) => ({ port, assigned_port, endpoint: { host: '127.0.0.1', port: assigned_port } }))
