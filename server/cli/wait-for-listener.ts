import { setTimeout as wait } from 'node:timers/promises'
import { tryPort } from '../lib/try-port.ts'

/** Node's servers listen only on ::1 if `localhost` resolves to it. */
const loopbackAddresses = ['127.0.0.1', '::1'] as const

const probeEvery_ms = 50
const connectTimeout_ms = 1_000

/**
 * Waits until a port accepts connections, and returns the loopback address at which it does. Two attempts in a row must succeed, because Vite listens
 * on the wildcard addresses for a moment to see whether the port is free, and then on the address that it was told.
 */
export async function waitForListener(port: number, signal: AbortSignal): Promise<'127.0.0.1' | '::1' | undefined> {
  let previous: '127.0.0.1' | '::1' | undefined
  while (!signal.aborted) {
    let found: typeof previous
    for (const address of loopbackAddresses) found ??= (await tryPort(address, port, connectTimeout_ms)) === 'open' ? address : undefined
    if (found !== undefined && found === previous) return found
    previous = found
    await wait(probeEvery_ms, undefined, { signal }).catch(() => {})
  }
  return undefined
}
