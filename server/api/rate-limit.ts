import { isIPv6 } from 'node:net'
import { limits } from '../contract/limits.ts'
import { ipv6Prefix, unmapIpv4 } from '../lib/client-ip.ts'
import type { Clock } from '../lib/clock.ts'

/** The state of a caller in the current window. `reset_s` is a Unix time in seconds, `retry_after_s` is relative. */
export interface RateState {
  limit: number
  remaining: number
  reset_s: number
  retry_after_s: number
}

export interface RateLimits {
  authenticated: number
  anonymous: number
}

export interface RateKey {
  key: string
  kind: keyof RateLimits
}

/** Maximum number of windows. Above it, the oldest window, which ends first, is dropped. */
const maxWindows = 100_000

/**
 * A fixed window of 60 s per caller, which starts with the first request and is measured by a monotonic clock. Windows are kept in memory,
 * so a restart resets them.
 */
export function createRateLimit(options: { clock: Clock; limits: () => RateLimits }) {
  const { clock } = options
  // Insertion order is the order in which windows start and therefore end.
  const windows = new Map<string, { ends: number; count: number }>()

  function current(key: string, now: number) {
    const window = windows.get(key)
    return window && window.ends > now ? window : undefined
  }

  function state(kind: keyof RateLimits, window: { ends: number; count: number } | undefined, now: number): RateState {
    const limit = options.limits()[kind]
    const remaining_ms = window ? window.ends - now : limits.rate.window_ms
    return {
      limit,
      remaining: Math.max(0, limit - (window?.count ?? 0)),
      reset_s: Math.ceil((clock.now() + remaining_ms) / 1000),
      retry_after_s: Math.max(1, Math.ceil(remaining_ms / 1000)),
    }
  }

  return {
    /** Counts a request. `allowed` is false above the limit. */
    count({ key, kind }: RateKey): RateState & { allowed: boolean } {
      const now = clock.monotonic()
      let window = current(key, now)
      if (!window) {
        windows.delete(key)
        for (const [oldest, { ends }] of windows) {
          if (ends > now && windows.size < maxWindows) break
          windows.delete(oldest)
        }
        window = { ends: now + limits.rate.window_ms, count: 0 }
        windows.set(key, window)
      }
      const allowed = window.count < options.limits()[kind]
      if (allowed) window.count += 1
      return { ...state(kind, window, now), allowed }
    },

    /** The current state, without counting. */
    peek({ key, kind }: RateKey): RateState {
      const now = clock.monotonic()
      return state(kind, current(key, now), now)
    },
  }
}

export type RateLimit = ReturnType<typeof createRateLimit>

/** The key of an unauthenticated caller: the IP address, or for IPv6 its /64, because one client can use all addresses of a /64. */
export function addressKey(address: string | undefined): RateKey {
  const plain = unmapIpv4(address ?? 'unknown')
  return { key: `ip ${isIPv6(plain) ? ipv6Prefix(plain, 4).join(':') : plain}`, kind: 'anonymous' }
}

export const accountKey = (accountId: string): RateKey => ({ key: `account ${accountId}`, kind: 'authenticated' })
