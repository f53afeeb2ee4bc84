import { z } from 'zod'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { dateTime, empty, pageQuery, projectParams } from './shared.ts'

export const purgeKind = z.enum(['purge_all', 'purge_tags', 'purge_urls', 'token_rotated'])
export const purgeSource = z.enum(['api', 'dashboard', 'webhook', 'deploy'])
export type PurgeKind = z.output<typeof purgeKind>
export type PurgeSource = z.output<typeof purgeSource>

export const cacheEvent = z.object({
  id: z.string(),
  kind: purgeKind,
  tags: z.array(z.string()),
  urls: z.array(z.string()).describe('As they were given; of a long list the first (our reading).'),
  purged: z.number().describe('Stored answers that were taken out.'),
  source: purgeSource,
  created_at: dateTime,
})
export type CacheEvent = z.output<typeof cacheEvent>

export const purgeResult = z.object({ ok: z.boolean(), purged: z.number() })

const tagLengthMessage = `A tag has ${limits.purge_tag.min} to ${limits.purge_tag.max} characters.`
const tagCountMessage = `Give ${limits.purge_tags.min} to ${limits.purge_tags.max} tags.`
const urlLengthMessage = `An address has 1 to ${limits.purge_url_bytes} characters.`
const urlCountMessage = `Give ${limits.purge_urls.min} to ${limits.purge_urls.max} addresses.`

export const purgeTagList = z
  .array(z.string().min(limits.purge_tag.min, tagLengthMessage).max(limits.purge_tag.max, tagLengthMessage))
  .min(limits.purge_tags.min, tagCountMessage)
  .max(limits.purge_tags.max, tagCountMessage)
export const purgeUrlList = z
  .array(z.string().min(1, urlLengthMessage).max(limits.purge_url_bytes, urlLengthMessage))
  .min(limits.purge_urls.min, urlCountMessage)
  .max(limits.purge_urls.max, urlCountMessage)

/** What the inbound webhook takes: nothing (all), tags, or addresses. */
export const purgeWebhookBody = z
  .strictObject({ tags: purgeTagList.optional(), urls: purgeUrlList.optional() })
  .refine((body) => body.tags === undefined || body.urls === undefined, 'Give tags or urls, not both.')

export const cacheOperations = {
  createPurgeToken: operation({
    method: 'POST',
    path: '/v1/projects/{slug}/cache/token',
    group: 'Projects',
    summary: 'Make or rotate the purge token',
    description: 'The token is shown this once; an earlier one no longer works from then on.',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 201, json: z.object({ token: z.string(), webhook_url: z.string() }) },
    errors: ['project_not_found'],
  }),
  purgeAll: operation({
    method: 'POST',
    path: '/v1/projects/{slug}/cache/purge-all',
    group: 'Projects',
    summary: 'Purge everything that the edge has stored of a project',
    description: 'Complete when the answer is sent.',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 200, json: purgeResult },
    errors: ['project_not_found', 'cache_purge_failed'],
  }),
  purgeTags: operation({
    method: 'POST',
    path: '/v1/projects/{slug}/cache/purge-tags',
    group: 'Projects',
    summary: 'Purge what bears one of these tags',
    description: 'Tags come from `Surrogate-Key` and `Cache-Tag` of the app’s answers. Complete when the answer is sent.',
    access: 'caller',
    params: projectParams,
    query: empty,
    body: z.strictObject({ tags: purgeTagList }),
    success: { status: 200, json: purgeResult },
    errors: ['invalid_input', 'project_not_found', 'cache_purge_failed'],
  }),
  listCacheEvents: operation({
    method: 'GET',
    path: '/v1/projects/{slug}/cache/log',
    group: 'Projects',
    summary: 'List purges, newest first',
    access: 'caller',
    params: projectParams,
    query: pageQuery,
    success: { status: 200, json: z.object({ events: z.array(cacheEvent), next_cursor: z.string().nullable() }) },
    errors: ['invalid_input', 'project_not_found'],
  }),
}
