import type { Clock } from '../lib/clock.ts'
import { Connection, type Owner, type UpstreamOptions } from './connection.ts'
import { Exchange, type Sink, type UpstreamRequest } from './exchange.ts'
import { limits } from './limits.ts'
import type { Sweep } from './sweep.ts'

/** The connections to one instance of an app; never shared between instances. */
export interface Upstream {
  /** A request to be; `exchange.start()` sends it. */
  ask(sink: Sink, request: UpstreamRequest): Exchange
  /** Closes what is idle and keeps nothing from now on. */
  retire(): void
  /** Cuts what is still under way. */
  destroy(): void
}

export function createUpstream(address: { host: string; port: number }, clock: Clock, sweep: Sweep, options: UpstreamOptions): Upstream {
  const idle: Connection[] = []
  const all = new Set<Connection>()
  let retired = false

  const upstream: Owner & Upstream = {
    address,
    sweep,
    options,
    all,
    ask: (sink, request) => new Exchange(upstream, sink, request),
    dispatch(exchange, reuse) {
      const oldest = sweep.now - (exchange.request.repeatable ? limits.upstream_idle_ms : limits.upstream_fresh_ms)
      for (let last = reuse ? idle.pop() : undefined; last !== undefined; last = idle.pop()) {
        if (last.fit(oldest)) return last.carry(exchange)
        last.socket.destroy()
      }
      open(exchange, sweep.now + options.connect_ms, limits.connect_retry_ms)
    },
    keep(connection) {
      if (retired || idle.length >= limits.upstream_idle_count) connection.socket.destroy()
      else idle.push(connection)
    },
    gone(connection) {
      all.delete(connection)
      sweep.delete(connection)
      const at = idle.indexOf(connection)
      if (at >= 0) idle.splice(at, 1)
    },
    retire() {
      retired = true
      for (const connection of idle.splice(0)) connection.socket.destroy()
    },
    destroy() {
      upstream.retire()
      for (const connection of all) connection.socket.destroy()
    },
  }
  return upstream

  function open(exchange: Exchange, until: number, wait_ms: number): void {
    const connection = new Connection(upstream)
    connection.exchange = exchange
    exchange.connection = connection
    connection.deadline = until
    connection.refused = () => {
      if (exchange.connection !== connection) return
      exchange.connection = null
      // An app that restarts refuses for a moment: nothing was sent, so trying again is safe for any request.
      if (sweep.now + wait_ms >= until || retired) return exchange.fail('refused')
      exchange.timer = clock.setTimeout(() => open(exchange, until, Math.min(wait_ms * 2, limits.connect_retry_max_ms)), wait_ms)
    }
  }
}
