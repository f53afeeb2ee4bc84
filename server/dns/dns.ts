import { networkInterfaces } from 'node:os'
import { type Examination, explainSight } from './explain.ts'
import { createLook, type LookOptions } from './look.ts'

export type { Examination } from './explain.ts'

/** Asks DNS where a name leads, and says what it means. */
export interface Dns {
  examine(hostname: string, platform_ip: string): Promise<Examination>
}

export function createDns(options: LookOptions & { hasNetwork?: () => boolean }): Dns {
  const { hasNetwork = isConnected } = options
  const look = createLook(options)
  return { examine: async (hostname, platform_ip) => explainSight(hostname, platform_ip, await look(hostname), hasNetwork()) }
}

/** Whether any interface of this machine leads out of it. */
function isConnected(): boolean {
  return Object.values(networkInterfaces()).some((list) => list?.some((one) => !one.internal && !one.address.startsWith('fe80:')))
}
