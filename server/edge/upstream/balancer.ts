import { createHmac } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import type { DeadlineTimer } from '../deadline-timer.ts'
import { edgeLimits } from '../limits.ts'
import type { UpstreamAddress, UpstreamOptions, UpstreamPool } from './connection.ts'
import { Exchange } from './exchange.ts'
import { createUpstream, type ReplicaPool, type Upstream } from './pool.ts'
import { findStickyReplica, setStickyCookie } from './sticky-sessions.ts'

/** The open requests of one replica, WebSockets included. */
export interface ReplicaLoad extends UpstreamAddress {
  in_flight: number
  /** The replica failed and gets no requests for a moment. */
  is_ejected: boolean
}

/** The replicas of an app as one upstream. */
export interface BalancedUpstream extends Upstream {
  /**
   * Replaces the replicas. Those that stay keep their connections. Requests to the others may end within `drain_ms`, then they are cut. Resolves
   * when that is done.
   */
  update(replicas: readonly UpstreamAddress[], isSticky: boolean, drain_ms: number): Promise<void>
  listLoad(): ReplicaLoad[]
}

const keyOf = ({ host, port }: UpstreamAddress): string => `${host}:${port}`

const findLeastBusy = (pools: ReplicaPool[]): ReplicaPool => pools.reduce((a, b) => (b.countInFlight() < a.countInFlight() ? b : a))

/**
 * Distributes requests over replicas: of two random ones, the one with fewer open requests gets it (power of two choices). When its connection fails, a
 * request that was not sent yet goes to another replica, on another machine if there is one. A replica that refuses connections, or fails several requests
 * in a row, gets no requests for a moment. If all have failed, all are tried. `first` is the replica so far. `sticky_secret` keys the values of cookies,
 * which therefore tell a client nothing about ports.
 */
export function createBalancedUpstream(
  clock: Clock,
  deadlines: DeadlineTimer,
  options: UpstreamOptions & { sticky_secret: Uint8Array },
  first: ReplicaPool,
): BalancedUpstream {
  const toCookieValue = (pool: ReplicaPool): string =>
    createHmac('sha256', options.sticky_secret).update(keyOf(pool.address)).digest('hex').slice(0, 16)
  let pools: ReplicaPool[] = [first]
  let poolByCookie: Map<string, ReplicaPool> | null = null
  const draining = new Map<ReplicaPool, () => void>()
  let isClosed = false

  const balancer: BalancedUpstream & { dispatch(exchange: Exchange, reuse: boolean): void } = {
    createExchange(handler, request) {
      if (poolByCookie === null) return new Exchange(balancer, handler, request)
      const known = poolByCookie.get(findStickyReplica(request.head) ?? '')
      const chosen = known && isHealthy(known) ? known : choose(null)
      return new Exchange(chosen, chosen === known ? handler : setStickyCookie(handler, toCookieValue(chosen)), request)
    },
    dispatch: (exchange, reuse) => choose(null).dispatch(exchange, reuse),
    update(replicas, isSticky, drain_ms) {
      const previous = new Map(pools.map((pool) => [keyOf(pool.address), pool]))
      pools = replicas.map((address) => {
        const kept = previous.get(keyOf(address))
        previous.delete(keyOf(address))
        if (kept) kept.address = address
        return kept ?? createUpstream(address, clock, deadlines, options)
      })
      // Those that leave need it too: what was not sent to them goes to the others.
      for (const pool of [...pools, ...previous.values()]) pool.siblings = siblings
      poolByCookie = isSticky ? new Map(pools.map((pool) => [toCookieValue(pool), pool])) : null
      return Promise.all([...previous.values()].map((pool) => drain(pool, drain_ms))).then(() => {})
    },
    listLoad: () =>
      pools.map((pool) => ({ host: pool.address.host, port: pool.address.port, in_flight: pool.countInFlight(), is_ejected: !isHealthy(pool) })),
    close() {
      isClosed = true
      for (const pool of pools) pool.close()
    },
    destroy() {
      for (const pool of pools) pool.destroy()
      for (const finish of draining.values()) finish()
    },
  }

  const siblings = {
    onFailure(replica: UpstreamPool, wasRefused: boolean): void {
      const pool = replica as ReplicaPool
      pool.failures++
      if (wasRefused || pool.failures >= edgeLimits.replica_failures) pool.ejectedUntil = deadlines.now + edgeLimits.replica_ejection_ms
    },
    findOther(failed: UpstreamPool): ReplicaPool | undefined {
      const { host } = failed.address
      // What ends a replica often ends those beside it.
      const onOtherHosts = pools.filter((pool) => pool.address.host !== host && isHealthy(pool))
      const other = onOtherHosts.length > 0 ? findLeastBusy(onOtherHosts) : choose(failed)
      return other !== failed && isHealthy(other) ? other : undefined
    },
    chooseAgain: (): ReplicaPool | undefined => (isClosed ? undefined : choose(null)),
  }

  return balancer

  function isHealthy(pool: ReplicaPool): boolean {
    return pool.ejectedUntil <= deadlines.now
  }

  function choose(except: UpstreamPool | null): ReplicaPool {
    const count = pools.length
    const start = Math.floor(Math.random() * count)
    const one = findHealthyFrom(start, except)
    if (one === null) return pools[start] as ReplicaPool
    if (count < 2) return one
    // Another random one: the scan begins 1 to count - 1 places further on.
    const two = findHealthyFrom((start + 1 + Math.floor(Math.random() * (count - 1))) % count, except)
    return two !== null && two.countInFlight() < one.countInFlight() ? two : one
  }

  function findHealthyFrom(start: number, except: UpstreamPool | null): ReplicaPool | null {
    for (let i = 0; i < pools.length; i++) {
      const pool = pools[(start + i) % pools.length] as ReplicaPool
      if (pool !== except && isHealthy(pool)) return pool
    }
    return null
  }

  async function drain(pool: ReplicaPool, drain_ms: number): Promise<void> {
    pool.close()
    if (pool.countInFlight() > 0 && drain_ms > 0) {
      const drained = Promise.withResolvers<void>()
      draining.set(pool, drained.resolve)
      pool.onIdle = drained.resolve
      const timer = clock.setTimeout(drained.resolve, drain_ms)
      await drained.promise
      timer.cancel()
      draining.delete(pool)
    }
    pool.destroy()
  }
}
