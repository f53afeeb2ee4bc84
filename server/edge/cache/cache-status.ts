export type XCache = 'HIT' | 'STALE' | 'MISS' | 'BYPASS'

/** The cache headers of a response: X-Cache for people, Cache-Status per RFC 9211. */
export const cacheStatusLines = (outcome: XCache, status: string): string => `X-Cache: ${outcome}\r\nCache-Status: Homeport; ${status}\r\n`
