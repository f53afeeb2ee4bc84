import { setTimeout as delay } from 'node:timers/promises'
import type Docker from 'dockerode'
import { rejectAfter } from './connection.ts'

export interface EngineDiskTotals {
  Volumes?: { Name: string; UsageData?: { Size: number } | null }[] | null
  BuilderSize?: number
}

/** Docker measures its volumes by reading them. */
const timeout_ms = 8_000

/** Totals that only Docker can measure. Docker runs one measurement at a time; undefined: not available now. */
export async function measureEngineDisk(docker: Docker): Promise<EngineDiskTotals | undefined> {
  const deadline = performance.now() + timeout_ms
  for (;;) {
    try {
      return (await rejectAfter(timeout_ms, docker.df())) as EngineDiskTotals
    } catch (error) {
      if (!/already running/.test(String(error)) || performance.now() > deadline) return undefined
      await delay(100)
    }
  }
}
