/** How an instance is reached: HTTPS, the hosts file, the local network, and inspection of the cache. */
import { z } from 'zod'
import { purgeResult, purgeUrlList } from './cache.ts'
import { operation } from './operation.ts'
import { dateTime, empty, okResponse, projectParams } from './shared.ts'

export const publicCertificate = z.object({
  name: z.string().describe('A hostname, or `*.` and a domain for all names directly below it.'),
  status: z.enum(['pending', 'issued', 'failed']).describe('`issued` until it expires, even if its renewal fails.'),
  expires_at: dateTime.nullable(),
  failures: z.number().describe('Failed attempts since the last success.'),
  last_error: z.string().nullable().describe('Why the last attempt failed, and what to do.'),
  last_attempt_at: dateTime.nullable(),
  next_attempt_at: dateTime.nullable().describe('When it is tried again after a failure.'),
})
export type PublicCertificate = z.output<typeof publicCertificate>

const publicNames = z.object({
  apps_domain: z.string().nullable().describe('Every project also answers at `SLUG.` and this domain.'),
  apps_url: z.string().nullable().describe('The scheme and port of these addresses; `SLUG.` comes before the host.'),
  authority: z.string().nullable().describe('The ACME directory of the certificate authority; null: none is configured.'),
  challenge: z.enum(['http-01', 'dns-01']).describe('How names of the apps domain are proven. Custom domains always use `http-01`.'),
  certificates: z.array(publicCertificate),
})
export type PublicNames = z.output<typeof publicNames>

export const httpsStatus = z.object({
  edge_https_url: z.string().nullable().describe('Null if the HTTPS port could not be opened.'),
  authority: z
    .object({ subject: z.string(), fingerprint_sha256: z.string(), created_at: dateTime, expires_at: dateTime })
    .nullable()
    .describe('The certificate authority of this instance; null until it is created at first use.'),
  trust: z.array(
    z.object({
      store: z.string().describe('Such as `macOS login keychain`, `Windows user store`, `system`, `Chromium`, `Firefox`.'),
      status: z.enum(['trusted', 'not_trusted', 'unavailable']),
      command: z.string().nullable().describe('Command to run if Homeport may not change the store itself.'),
    }),
  ),
})
export type HttpsStatus = z.output<typeof httpsStatus>

export const lanStatus = z.object({
  open: z.boolean(),
  has_owner_password: z.boolean(),
  sign_in_email: z.string().describe('Email address with which the owner signs in.'),
  encrypted: z.boolean().describe('False: passwords and tokens cross the network unencrypted.'),
  warning: z.string().nullable(),
  dashboard_urls: z.array(z.string()),
  projects: z
    .array(z.object({ slug: z.string(), name: z.string(), urls: z.array(z.string()) }))
    .describe('Live projects with URLs that other devices can open.'),
})
export type LanStatus = z.output<typeof lanStatus>

export const hostsFileStatus = z.object({
  path: z.string(),
  in_sync: z.boolean(),
  writable: z.boolean(),
  block: z.string().describe('The lines for the hosts file, including their markers.'),
  command: z.string().nullable().describe('Command to run if Homeport may not write the file.'),
})
export type HostsFileStatus = z.output<typeof hostsFileStatus>

export const cacheInspection = z.object({
  url: z.string(),
  key: z.string().describe('Cache key.'),
  cache_status: z.enum(['HIT', 'STALE', 'MISS', 'BYPASS']).describe('Result of a plain GET now.'),
  why: z.string(),
  stored: z
    .object({
      status: z.number(),
      stored_at: dateTime,
      age_s: z.number(),
      fresh_for_s: z.number().describe('Negative: seconds since it became stale.'),
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
    .describe('Response to the real request; null without `send`, or if no response started within 25 s.'),
})
export type CacheInspectionResult = z.output<typeof cacheInspection>

const password = z.string().min(10, 'Use at least 10 characters.').max(200)

export const networkOperations = {
  inspectCache: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/cache/inspect',
    resource: 'project',
    group: 'Instance',
    summary: 'Inspect the cache for a URL',
    access: 'caller',
    scope: 'deploy',
    params: projectParams,
    query: empty,
    body: z.strictObject({
      url: z.string().min(1).max(4096).describe('A path or a URL of the project.'),
      headers: z.record(z.string().max(100), z.string().max(4096)).optional().describe('Request headers, for responses that vary.'),
      send: z.boolean().optional().describe('Also send a real request, which wakes the app and counts as a visit.'),
    }),
    success: { status: 200, json: cacheInspection },
    errors: ['invalid_input', 'project_not_found'],
  }),
  purgeUrls: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/cache/purge-urls',
    resource: 'project',
    group: 'Instance',
    summary: 'Purge cached responses by URL',
    access: 'caller',
    scope: 'deploy',
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
    summary: 'Get the HTTPS status and which stores trust the certificate authority',
    access: 'owner',
    params: empty,
    query: empty,
    success: { status: 200, json: z.object({ https: httpsStatus }) },
    errors: [],
  }),
  getPublicNames: operation({
    method: 'GET',
    path: '/instance/public-names',
    group: 'Instance',
    summary: 'Get the apps domain and the certificates of public names',
    description: 'The options `--apps-domain` and `--acme-email` of the operator turn them on.',
    access: 'owner',
    params: empty,
    query: empty,
    success: { status: 200, json: z.object({ public_names: publicNames }) },
    errors: [],
  }),
  trustAuthority: operation({
    method: 'POST',
    path: '/instance/https/trust',
    group: 'Instance',
    summary: 'Make this machine trust the local certificate authority, creating it if needed',
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
    summary: 'Remove the certificate authority from every trust store and destroy its key',
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
    summary: 'Get the hosts file lines for the local names',
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
    summary: 'Get local network access and its URLs',
    description: 'The setting `lan` turns it on and off.',
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
    summary: 'Create a one-time code for setting the owner’s password from another machine',
    description: 'Only for requests from this machine; others get a 403. A new code replaces the previous one.',
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
    description: 'A request from another machine needs a setup code, which is created on this machine and works once.',
    access: 'owner',
    params: empty,
    query: empty,
    body: z.strictObject({ password, setup_code: z.string().max(100).optional() }),
    success: { status: 200, json: okResponse },
    errors: ['invalid_input', 'forbidden'],
  }),
}
