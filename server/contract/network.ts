/** How an instance is reached: HTTPS on every name, the network around it, and what its cache does with an address. */
import { z } from 'zod'
import { purgeResult, purgeUrlList } from './cache.ts'
import { operation } from './operation.ts'
import { dateTime, empty, okResponse, projectParams } from './shared.ts'

export const httpsStatus = z.object({
  edge_https_url: z.string().nullable().describe('Null when its port could not be had.'),
  authority: z
    .object({ subject: z.string(), fingerprint_sha256: z.string(), created_at: dateTime, expires_at: dateTime })
    .nullable()
    .describe('The certificate authority of this instance; null until it is first needed.'),
  trust: z.array(
    z.object({
      store: z.string().describe('Such as `macOS login keychain`, `Windows user store`, `system`, `Chromium`, `Firefox`.'),
      status: z.enum(['trusted', 'not_trusted', 'unavailable']),
      command: z.string().nullable().describe('What a person runs to trust it, when Homeport may not do it by itself.'),
    }),
  ),
})
export type HttpsStatus = z.output<typeof httpsStatus>

export const lanStatus = z.object({
  open: z.boolean(),
  has_owner_password: z.boolean(),
  sign_in_email: z.string().describe('What the owner signs in with, beside the password.'),
  encrypted: z.boolean().describe('False: passwords and tokens cross the network in the clear.'),
  warning: z.string().nullable(),
  dashboard_urls: z.array(z.string()),
  projects: z
    .array(z.object({ slug: z.string(), name: z.string(), urls: z.array(z.string()) }))
    .describe('Projects that are live, by the addresses that a phone can open.'),
})
export type LanStatus = z.output<typeof lanStatus>

export const hostsFileStatus = z.object({
  path: z.string(),
  in_sync: z.boolean(),
  writable: z.boolean(),
  block: z.string().describe('The lines that belong there, with their marks.'),
  command: z.string().nullable().describe('What to run when Homeport may not write the file.'),
})
export type HostsFileStatus = z.output<typeof hostsFileStatus>

export const cacheVerdict = z.object({
  url: z.string(),
  key: z.string().describe('What the answer is stored under.'),
  verdict: z.enum(['HIT', 'STALE', 'MISS', 'BYPASS']).describe('What a plain GET would get now.'),
  why: z.string(),
  stored: z
    .object({
      status: z.number(),
      stored_at: dateTime,
      age_s: z.number(),
      fresh_for_s: z.number().describe('Negative: stale for so long.'),
      stale_while_revalidate_s: z.number(),
      stale_if_error_s: z.number(),
      tags: z.array(z.string()),
      vary: z.array(z.string()),
      bytes: z.number(),
      tier: z.enum(['memory', 'disk']),
      headers: z.array(z.tuple([z.string(), z.string()])),
    })
    .nullable(),
  answer: z
    .object({
      status: z.number(),
      x_cache: z.string().nullable(),
      cache_status: z.string().nullable(),
      age_s: z.number().nullable(),
      ms: z.number(),
      headers: z.array(z.tuple([z.string(), z.string()])),
    })
    .nullable()
    .describe('Of a real request, when one was asked for and an answer began within 25 s.'),
})
export type CacheVerdict = z.output<typeof cacheVerdict>

const password = z.string().min(10, 'Use at least 10 characters.').max(200)

export const networkOperations = {
  inspectCache: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/cache/inspect',
    group: 'Instance',
    summary: 'What does the cache do with this address?',
    access: 'caller',
    params: projectParams,
    query: empty,
    body: z.strictObject({
      url: z.string().min(1).max(4096).describe('A path, or an address of the project.'),
      headers: z.record(z.string().max(100), z.string().max(4096)).optional().describe('Request headers, for answers that vary.'),
      send: z.boolean().optional().describe('Make a real request too. It wakes the app and counts as a visit.'),
    }),
    success: { status: 200, json: cacheVerdict },
    errors: ['invalid_input', 'project_not_found'],
  }),
  purgeUrls: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/cache/purge-urls',
    group: 'Instance',
    summary: 'Purge addresses of a project',
    access: 'caller',
    params: projectParams,
    query: empty,
    body: z.strictObject({ urls: purgeUrlList }),
    success: { status: 200, json: purgeResult },
    errors: ['invalid_input', 'project_not_found', 'cache_purge_failed'],
  }),
  getHttps: operation({
    method: 'GET',
    path: '/instance/https',
    group: 'Instance',
    summary: 'HTTPS on local names, and who trusts it',
    access: 'owner',
    params: empty,
    query: empty,
    success: { status: 200, json: z.object({ https: httpsStatus }) },
    errors: [],
  }),
  trustAuthority: operation({
    method: 'POST',
    path: '/instance/https/trust',
    group: 'Instance',
    summary: 'Let this machine trust the local certificate authority; made when there is none',
    access: 'owner',
    params: empty,
    query: empty,
    success: { status: 200, json: z.object({ https: httpsStatus, messages: z.array(z.string()) }) },
    errors: [],
  }),
  removeAuthority: operation({
    method: 'DELETE',
    path: '/instance/https/trust',
    group: 'Instance',
    summary: 'Take the authority out of every trust store and destroy its key',
    access: 'owner',
    params: empty,
    query: empty,
    success: { status: 200, json: z.object({ https: httpsStatus, messages: z.array(z.string()) }) },
    errors: [],
  }),
  getHostsFile: operation({
    method: 'GET',
    path: '/instance/hosts-file',
    group: 'Instance',
    summary: 'The lines that make every program find the local names',
    access: 'owner',
    params: empty,
    query: empty,
    success: { status: 200, json: z.object({ hosts_file: hostsFileStatus }) },
    errors: [],
  }),
  getLan: operation({
    method: 'GET',
    path: '/instance/lan',
    group: 'Instance',
    summary: 'Whether the network around this machine is let in, and by which addresses',
    description: 'The setting `lan` opens and closes it.',
    access: 'owner',
    params: empty,
    query: empty,
    success: { status: 200, json: z.object({ lan: lanStatus }) },
    errors: [],
  }),
  createSetupCode: operation({
    method: 'POST',
    path: '/instance/setup-codes',
    group: 'Instance',
    summary: 'A code that lets another machine set the owner’s password, once',
    description: 'Given to this machine alone; 403 to any other. A new code takes the place of the last.',
    access: 'owner',
    params: empty,
    query: empty,
    success: { status: 201, json: z.object({ setup_code: z.string(), expires_at: dateTime }) },
    errors: ['forbidden'],
  }),
  setOwnerPassword: operation({
    method: 'POST',
    path: '/instance/password',
    group: 'Instance',
    summary: 'Set the owner’s password for signing in from other devices',
    description: 'From another machine it takes a setup code, which is shown on this one and works once.',
    access: 'owner',
    params: empty,
    query: empty,
    body: z.strictObject({ password, setup_code: z.string().max(100).optional() }),
    success: { status: 200, json: okResponse },
    errors: ['invalid_input', 'forbidden'],
  }),
}
