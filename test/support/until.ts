import { setTimeout as delay } from 'node:timers/promises'

/** Asks again until there is an answer; what is waited for is a state, never a span of time. */
export async function until<T>(
  ask: () => Promise<T | undefined> | T | undefined,
  options: { timeout_ms?: number; what: string; every_ms?: number },
): Promise<T> {
  const giveUpAt = performance.now() + (options.timeout_ms ?? 30_000)
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (performance.now() > giveUpAt) throw new Error(`waited ${options.timeout_ms ?? 30_000} ms in vain for ${options.what}`)
    await delay(options.every_ms ?? 50)
  }
}
