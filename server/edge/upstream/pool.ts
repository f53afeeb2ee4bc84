import { connect } from 'node:net'
import type { Clock } from '../../lib/clock.ts'
import { type UpstreamAddress, UpstreamConnection, type UpstreamPool, type UpstreamOptions } from './connection.ts'
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

/** The other replicas of a balanced upstream. */
interface SiblingPools {
  /** A connection was refused, or an app gave no answer. */
  onFailure(pool: UpstreamPool, wasRefused: boolean): void
  /** Another healthy replica. */
  findOther(failed: UpstreamPool): ReplicaPool | undefined
  /** The replica for the next attempt, after a wait because none accepted. Undefined: the route was replaced. */
  chooseAgain(): ReplicaPool | undefined
}

/** The upstream of one replica, and what a balancer knows of it. */
export interface ReplicaPool extends UpstreamPool, Upstream {
  siblings: SiblingPools | null
  failures: number
  /** By the deadline timer's clock. */
  ejectedUntil: number
  onIdle: (() => void) | null
  countInFlight(): number
  open(exchange: Exchange, giveUpAt: number, wait_ms: number): void
}

export function createUpstream(address: UpstreamAddress, clock: Clock, deadlines: DeadlineTimer, options: UpstreamOptions): ReplicaPool {
  const idle: UpstreamConnection[] = []
  const connections = new Set<UpstreamConnection>()
  let isClosed = false
  let isChecking = false

  const upstream: ReplicaPool = {
    siblings: null,
    failures: 0,
    ejectedUntil: 0,
    onIdle: null,
    countInFlight: () => connections.size - idle.length,
    open: openConnection,
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
      if (upstream.onIdle !== null && connections.size === idle.length) upstream.onIdle()
    },
    checkReachable() {
      if (isChecking) return
      isChecking = true
      const socket = connect({ host: address.host, port: address.port })
      const timer = clock.setTimeout(
        () => socket.destroy(new Error('The replica did not accept a connection in time.')),
        edgeLimits.replica_connect_timeout_ms,
      )
      socket.on('connect', () => socket.destroy())
      socket.on('error', (error: NodeJS.ErrnoException) => {
        // Its machine is there.
        if (error.code === 'ECONNREFUSED') return
        upstream.siblings?.onFailure(upstream, true)
        for (const connection of connections) connection.giveUp()
      })
      socket.on('close', () => {
        timer.cancel()
        isChecking = false
      })
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
    const { siblings } = upstream
    connection.deadline = siblings ? Math.min(giveUpAt, deadlines.now + edgeLimits.replica_connect_timeout_ms) : giveUpAt
    connection.onRefused = () => {
      if (exchange.connection !== connection) return
      exchange.connection = null
      siblings?.onFailure(upstream, true)
      // Nothing was sent, so another replica may get any request.
      const other = siblings?.findOther(upstream)
      if (other && deadlines.now < giveUpAt) return other.open(exchange, giveUpAt, wait_ms)
      // An app that restarts refuses connections for a moment. Nothing was sent, so a retry is safe for any request.
      const retry = (): void => {
        const next = siblings ? siblings.chooseAgain() : isClosed ? undefined : upstream
        if (next) next.open(exchange, giveUpAt, Math.min(wait_ms * 2, edgeLimits.connect_retry_max_ms))
        else exchange.fail('refused')
      }
      if (deadlines.now + wait_ms >= giveUpAt || (siblings ? siblings.chooseAgain() === undefined : isClosed)) return exchange.fail('refused')
      exchange.timer = clock.setTimeout(retry, wait_ms)
    }
  }
}
