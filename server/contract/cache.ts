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
  urls: z.array(z.string()).describe('As given in the request; a long list is cut (our reading).'),
  purged: z.number().describe('Number of cached responses that were removed.'),
  source: purgeSource,
  created_at: dateTime,
})
export type CacheEvent = z.output<typeof cacheEvent>

export const purgeResult = z.object({ ok: z.boolean(), purged: z.number() })

const tagLengthMessage = `A tag has ${limits.purge_tag.min} to ${limits.purge_tag.max} characters.`
const tagCountMessage = `Provide ${limits.purge_tags.min} to ${limits.purge_tags.max} tags.`
const urlLengthMessage = `A URL has 1 to ${limits.purge_url_bytes} characters.`
const urlCountMessage = `Provide ${limits.purge_urls.min} to ${limits.purge_urls.max} URLs.`

export const purgeTagList = z
  .array(z.string().min(limits.purge_tag.min, tagLengthMessage).max(limits.purge_tag.max, tagLengthMessage))
  .min(limits.purge_tags.min, tagCountMessage)
  .max(limits.purge_tags.max, tagCountMessage)
export const purgeUrlList = z
  .array(z.string().min(1, urlLengthMessage).max(limits.purge_url_bytes, urlLengthMessage))
  .min(limits.purge_urls.min, urlCountMessage)
  .max(limits.purge_urls.max, urlCountMessage)

/** The body of the purge webhook: tags, URLs, or neither to purge everything. */
export const purgeWebhookBody = z
  .strictObject({ tags: purgeTagList.optional(), urls: purgeUrlList.optional() })
  .refine((body) => body.tags === undefined || body.urls === undefined, 'Provide tags or urls, not both.')

export const cacheOperations = {
  createPurgeToken: operation({
    method: 'POST',
    path: '/v1/projects/{slug}/cache/token',
    resource: 'project',
    group: 'Projects',
    summary: 'Create or rotate the purge token',
    description: 'The token is only in this response. It replaces an earlier token, which stops working.',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 201, json: z.object({ token: z.string(), webhook_url: z.string() }) },
    errors: ['project_not_found'],
  }),
  purgeAll: operation({
    method: 'POST',
    path: '/v1/projects/{slug}/cache/purge-all',
    resource: 'project',
    group: 'Projects',
    summary: 'Purge the whole edge cache of a project',
    description: 'The purge is complete when the response is sent.',
    access: 'caller',
    scope: 'deploy',
    params: projectParams,
    query: empty,
    success: { status: 200, json: purgeResult },
    errors: ['project_not_found', 'cache_purge_failed'],
  }),
  purgeTags: operation({
    method: 'POST',
    path: '/v1/projects/{slug}/cache/purge-tags',
    resource: 'project',
    group: 'Projects',
    summary: 'Purge cached responses by tag',
    description: 'Tags come from the response headers `Surrogate-Key` and `Cache-Tag` of the app. The purge is complete when the response is sent.',
    access: 'caller',
    scope: 'deploy',
    params: projectParams,
    query: empty,
    body: z.strictObject({ tags: purgeTagList }),
    success: { status: 200, json: purgeResult },
    errors: ['invalid_input', 'project_not_found', 'cache_purge_failed'],
  }),
  listCacheEvents: operation({
    method: 'GET',
    path: '/v1/projects/{slug}/cache/log',
    resource: 'project',
    group: 'Projects',
    summary: 'List purges, newest first',
    access: 'caller',
    params: projectParams,
    query: pageQuery,
    success: { status: 200, json: z.object({ events: z.array(cacheEvent), next_cursor: z.string().nullable() }) },
    errors: ['invalid_input', 'project_not_found'],
  }),
}
