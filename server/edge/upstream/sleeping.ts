import { Exchange, type ResponseHandler } from './exchange.ts'
import type { DeadlineTimer, Timeout } from '../deadline-timer.ts'
import type { Upstream } from './pool.ts'

/**
 * The upstream of a sleeping app. Cached responses are served without it. A request that needs the app wakes it and is held until the host has
 * another route; then the request fails as `rerouted`, unsent, and is sent there.
 */
export function createSleepingUpstream(options: { deadlines: DeadlineTimer; timeout_ms: number; wake(): void }): Upstream {
  const { deadlines } = options
  const heldExchanges = new Map<Exchange, Timeout>()

  const release = (failure: 'rerouted' | 'refused', exchange: Exchange): void => {
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
    for (const exchange of heldExchanges.keys()) release('rerouted', exchange)
  }
  return { createExchange: (handler: ResponseHandler, request) => new Exchange(dispatcher, handler, request), close: releaseAll, destroy: releaseAll }
}
