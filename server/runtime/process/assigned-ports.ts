import type { PortAllocator } from '../ports.ts'
import type { FurtherPort } from '../runtime.ts'

/** Ports of this machine for one program. */
export interface AssignedPorts {
  port: number
  /** By the port in the request. */
  furtherPorts: ReadonlyMap<number, number>
}

export async function assignPorts(allocator: PortAllocator, wanted: readonly number[] = []): Promise<AssignedPorts> {
  const port = await allocator.allocate()
  const furtherPorts = new Map<number, number>()
  try {
    for (const one of wanted) furtherPorts.set(one, await allocator.allocate())
    return { port, furtherPorts }
  } catch (error) {
    releasePorts(allocator, { port, furtherPorts })
    throw error
  }
}

export function releasePorts(allocator: PortAllocator, { port, furtherPorts }: AssignedPorts): void {
  for (const one of [port, ...furtherPorts.values()]) allocator.release(one)
}

export const listFurtherPorts = ({ furtherPorts }: AssignedPorts): FurtherPort[] =>
  [...furtherPorts].map(([port, assigned_port]) => ({ port, assigned_port, endpoint: { host: '127.0.0.1', port: assigned_port } }))
