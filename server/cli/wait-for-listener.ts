import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** Node's servers listen only on ::1 if `localhost` resolves to it. */
const loopbackAddresses = ['127.0.0.1', '::1'] as const

const probeEvery_ms = 50

/**
 * Waits until a port accepts connections, and returns the loopback address at which it does. Two attempts in a row must succeed, because Vite listens
 * on the wildcard addresses for a moment to see whether the port is free, and then on the address that it was told.
 */
export async function waitForListener(port: number, signal: AbortSignal): Promise<'127.0.0.1' | '::1' | undefined> {
  let previous: '127.0.0.1' | '::1' | undefined
  while (!signal.aborted) {
    let found: typeof previous
    for (const address of loopbackAddresses) found ??= (await canConnect(address, port)) ? address : undefined
    if (found !== undefined && found === previous) return found
    previous = found
    await wait(probeEvery_ms, undefined, { signal }).catch(() => {})
  }
  return undefined
}

const canConnect = (host: string, port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect({ host, port })
    socket.once('connect', () => {
      socket.destroy()
      done(true)
    })
    socket.once('error', () => done(false))
  })
