import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { CacheOptions, EdgeCache } from '../edge.ts'

export interface CachingOptions {
  clock: Clock
  log: Log
  cache: CacheOptions | undefined
}

export function createCaching(_options: CachingOptions): EdgeCache {
  return {
    purge: async () => 0,
    stats: () => ({ objects: 0, bytes: 0 }),
    inspect: ({ host, target }) => ({ key: `${host}${target}`, verdict: 'BYPASS', why: 'This edge stores nothing.', stored: null }),
    setEnabled: () => {},
    forget: async () => {},
  }
}
