import type { Clock } from '../../lib/clock.ts'
import { UpstreamConnection, type UpstreamPool, type UpstreamOptions } from './connection.ts'
import { Exchange, type ResponseHandler, type UpstreamRequest } from './exchange.ts'
import { edgeLimits } from '../limits.ts'
import type { DeadlineTimer } from '../deadline-timer.ts'

/** The connections to one replica of an app. Replicas do not share connections. */
export interface Upstream {
  /** Creates an exchange; `exchange.start()` sends the request. */
  createExchange(handler: ResponseHandler, request: UpstreamRequest): Exchange
  /** Closes idle connections and keeps none from now on. */
  close(): void
  /** Cuts all connections. */
  destroy(): void
}

export function createUpstream(address: { host: string; port: number }, clock: Clock, deadlines: DeadlineTimer, options: UpstreamOptions): Upstream {
  const idle: UpstreamConnection[] = []
  const connections = new Set<UpstreamConnection>()
  let isClosed = false

  const upstream: UpstreamPool & Upstream = {
    address,
    deadlines,
    options,
    connections,
    createExchange: (handler, request) => new Exchange(upstream, handler, request),
    dispatch(exchange, reuse) {
      const oldest = deadlines.now - (exchange.request.isRepeatable ? edgeLimits.upstream_idle_ms : edgeLimits.upstream_fresh_ms)
      for (let connection = reuse ? idle.pop() : undefined; connection !== undefined; connection = idle.pop()) {
        if (connection.isReusable(oldest)) return connection.send(exchange)
        connection.socket.destroy()
      }
      openConnection(exchange, deadlines.now + options.connect_timeout_ms, edgeLimits.connect_retry_ms)
    },
    release(connection) {
      if (isClosed || idle.length >= edgeLimits.upstream_idle_count) connection.socket.destroy()
      else idle.push(connection)
    },
    remove(connection) {
      connections.delete(connection)
      deadlines.delete(connection)
      const at = idle.indexOf(connection)
      if (at >= 0) idle.splice(at, 1)
    },
    close() {
      isClosed = true
      for (const connection of idle.splice(0)) connection.socket.destroy()
    },
    destroy() {
      upstream.close()
      for (const connection of connections) connection.socket.destroy()
    },
  }
  return upstream

  function openConnection(exchange: Exchange, giveUpAt: number, wait_ms: number): void {
    const connection = new UpstreamConnection(upstream)
    connection.exchange = exchange
    exchange.connection = connection
    connection.deadline = giveUpAt
    connection.onRefused = () => {
      if (exchange.connection !== connection) return
      exchange.connection = null
      // An app that restarts refuses connections for a moment. Nothing was sent, so a retry is safe for any request.
      if (deadlines.now + wait_ms >= giveUpAt || isClosed) return exchange.fail('refused')
      exchange.timer = clock.setTimeout(() => openConnection(exchange, giveUpAt, Math.min(wait_ms * 2, edgeLimits.connect_retry_max_ms)), wait_ms)
    }
  }
}
