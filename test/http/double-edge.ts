/** Handlers of what is about the edge (cache, metrics, HTTPS, the network), for the double: they answer in the contract's shapes. */
import type { Handlers } from '../../server/contract/index.ts'
import { metricsBuckets } from '../../server/contract/metrics.ts'
import type { HttpsStatus } from '../../server/contract/network.ts'
import type { Context } from '../../server/features/context.ts'
import { newId } from '../../server/lib/id.ts'
import { newToken } from '../../server/lib/token.ts'

type EdgeHandlers = Pick<
  Handlers<Context>,
  | 'createPurgeToken'
  | 'purgeAll'
  | 'purgeTags'
  | 'purgeUrls'
  | 'listCacheEvents'
  | 'inspectCache'
  | 'getMetrics'
  | 'listSparklines'
  | 'findProjects'
  | 'listGlances'
  | 'getHttps'
  | 'trustAuthority'
  | 'removeAuthority'
  | 'getHostsFile'
  | 'getLan'
  | 'createSetupCode'
  | 'setOwnerPassword'
>

const now = '2026-01-31T12:00:00.000Z'
const https: HttpsStatus = { edge_https_url: null, authority: null, trust: [] }
const durations = { p50_ms: null, p95_ms: null, p99_ms: null }

/** `visible` throws the 404 of a project that the caller may not see. */
export function createEdgeHandlers(visible: (context: Context, slug: string) => unknown): EdgeHandlers {
  return {
    async createPurgeToken(context, { params }) {
      visible(context, params.slug)
      return { token: newToken('hpp'), webhook_url: `http://localhost/hooks/cache/${params.slug}` }
    },
    async purgeAll(context, { params }) {
      visible(context, params.slug)
      return { ok: true, purged: 0 }
    },
    async purgeTags(context, { params }) {
      visible(context, params.slug)
      return { ok: true, purged: 0 }
    },
    async purgeUrls(context, { params }) {
      visible(context, params.slug)
      return { ok: true, purged: 0 }
    },
    async listCacheEvents(context, { params }) {
      visible(context, params.slug)
      return {
        events: [{ id: newId('evt'), kind: 'purge_tags' as const, tags: ['a'], urls: [], purged: 1, source: 'api' as const, created_at: now }],
        next_cursor: null,
      }
    },
    async inspectCache(context, { params, body }) {
      visible(context, params.slug)
      return { url: body.url, key: body.url, verdict: 'MISS' as const, why: 'Nothing is stored.', stored: null, answer: null }
    },
    findProjects: async () => ({ projects: [], count: 0, total: 0 }),
    listGlances: async () => ({ glances: [] }),
    listSparklines: async () => ({ from: now, projects: [] }),
    async getMetrics(context, { params, query }) {
      visible(context, params.slug)
      const range = query.range ?? '24h'
      const { count, seconds } = metricsBuckets[range]
      const bucket = {
        ts: now,
        requests: 0,
        status_2xx: 0,
        status_3xx: 0,
        status_4xx: 0,
        status_5xx: 0,
        bytes_out: 0,
        ...durations,
        cold_starts: 0,
        cache_hits: 0,
        cache_misses: 0,
        cache_bypass: 0,
      }
      return {
        range,
        bucket_seconds: seconds,
        from: now,
        to: now,
        buckets: Array.from({ length: count }, () => bucket),
        totals: { requests: 0, errors: 0, error_rate: 0, bytes_out: 0, ...durations },
        cold_starts: { count: 0, p50_ms: null, p95_ms: null, last_at: null },
        cache: { hits: 0, misses: 0, bypass: 0, hit_ratio: null, objects: 0, bytes: 0 },
        resources: null,
      }
    },
    getHttps: async () => ({ https }),
    trustAuthority: async () => ({ https, messages: [] }),
    removeAuthority: async () => ({ https, messages: [] }),
    getHostsFile: async () => ({ hosts_file: { path: '/etc/hosts', in_sync: true, writable: false, block: '', command: null } }),
    getLan: async () => ({
      lan: { open: false, has_owner_password: false, sign_in_email: '', encrypted: false, warning: null, dashboard_urls: [], projects: [] },
    }),
    createSetupCode: async () => ({ setup_code: 'code', expires_at: now }),
    setOwnerPassword: async () => ({ ok: true }),
  }
}
