import { Exchange, type ResponseHandler } from './exchange.ts'
import type { DeadlineTimer, Timeout } from '../deadline-timer.ts'
import type { Upstream } from './pool.ts'

/**
 * Stands for an app that sleeps. What is stored is answered without it; a request that needs the app itself has it woken and is
 * held, until the name has another route: then it is given back unsent, and goes there.
 */
export function createSleepingUpstream(options: { sweep: DeadlineTimer; timeout_ms: number; wake(): void }): Upstream {
  const { sweep: deadlines } = options
  const heldExchanges = new Map<Exchange, Timeout>()

  const release = (failure: 'moved' | 'refused', exchange: Exchange): void => {
    const timeout = heldExchanges.get(exchange)
    if (timeout) deadlines.delete(timeout)
    heldExchanges.delete(exchange)
    exchange.fail(failure)
  }
  const dispatcher = {
    dispatch(exchange: Exchange): void {
      const timeout = { deadline: deadlines.now + options.timeout_ms, expire: () => release('refused', exchange) }
      heldExchanges.set(exchange, timeout)
      deadlines.add(timeout)
      options.wake()
    },
  }
  const releaseAll = (): void => {
    for (const exchange of heldExchanges.keys()) release('moved', exchange)
  }
  return { createExchange: (handler: ResponseHandler, request) => new Exchange(dispatcher, handler, request), close: releaseAll, destroy: releaseAll }
}
