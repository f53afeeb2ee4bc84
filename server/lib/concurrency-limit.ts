/** Limits how many jobs run at once; the others wait in order. */
export function createConcurrencyLimit(limit: number) {
  let running = 0
  const waiting: (() => void)[] = []
  return async <R>(signal: AbortSignal, work: () => Promise<R>): Promise<R> => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      signal.throwIfAborted()
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
