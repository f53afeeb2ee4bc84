import { Exchange, type Sink } from './exchange.ts'
import type { Sweep, Timed } from './sweep.ts'
import type { Upstream } from './upstream.ts'

/**
 * Stands for an app that sleeps. What is stored is answered without it; a request that needs the app itself has it woken and is
 * held, until the name has another route: then it is given back unsent, and goes there.
 */
export function createAsleep(options: { sweep: Sweep; patience_ms: number; wake(): void }): Upstream {
  const { sweep } = options
  const held = new Map<Exchange, Timed>()

  const release = (failure: 'moved' | 'refused', exchange: Exchange): void => {
    const timed = held.get(exchange)
    if (timed) sweep.delete(timed)
    held.delete(exchange)
    exchange.fail(failure)
  }
  const dispatcher = {
    dispatch(exchange: Exchange): void {
      const timed = { deadline: sweep.now + options.patience_ms, expire: () => release('refused', exchange) }
      held.set(exchange, timed)
      sweep.add(timed)
      options.wake()
    },
  }
  const retire = (): void => {
    for (const exchange of held.keys()) release('moved', exchange)
  }
  return { ask: (sink: Sink, request) => new Exchange(dispatcher, sink, request), retire, destroy: retire }
}
