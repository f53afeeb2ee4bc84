/** Lets a few in at once; the others wait for their turn. */
export function createTurns(atOnce: number) {
  let busy = 0
  const waiting: (() => void)[] = []
  return async <R>(signal: AbortSignal, work: () => Promise<R>): Promise<R> => {
    if (busy >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve))
    else busy++
    try {
      signal.throwIfAborted()
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else busy--
    }
  }
}
