import { z } from 'zod'
import { limits } from './limits.ts'
import { publicCertificate } from './network.ts'
import { operation } from './operation.ts'
import { dateTime, empty, projectParams } from './shared.ts'

export const domainStatus = z.enum(['pending', 'verified', 'failed', 'transfer_requested'])

export const domain = z.object({
  id: z.string(),
  hostname: z.string(),
  status: domainStatus,
  verified_at: dateTime.nullable(),
  last_check_at: dateTime.nullable(),
  last_check_error: z.string().nullable(),
  created_at: dateTime,
  account_owned_domain_id: z.string().nullable().describe('Set if the domain was bought here; null for an existing domain that was added.'),
  expires_at: dateTime.nullable(),
  auto_renew: z.boolean().nullable(),
  transfer_requested_at: dateTime.nullable(),
  project_id: z.string(),
  project_slug: z.string(),
  project_name: z.string(),
  // Missing in an older instance.
  certificate: publicCertificate
    .nullable()
    .optional()
    .describe('The certificate from a public authority, and why there is none; null if none was ordered.'),
})
export type Domain = z.output<typeof domain>

export const registrant = z.strictObject({
  name: z.string().min(1).max(200),
  email: z.email().max(254),
  address: z.string().min(1).max(500),
  city: z.string().min(1).max(200),
  country: z.string().regex(/^[A-Z]{2}$/, 'Use a two-letter country code, such as DE.'),
  postal_code: z.string().min(1).max(20),
  phone: z.string().regex(/^\+?[0-9 .()-]{5,30}$/, 'Use a phone number with country code, such as +49 30 1234567.'),
})
export type Registrant = z.output<typeof registrant>

const domainDetail = domain.extend({ registrar: z.object({ name: z.string(), reference: z.string() }).nullable(), registrant: registrant.nullable() })

const hostname = z
  .string()
  .min(limits.hostname.min)
  .max(limits.hostname.max)
  .regex(/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/, 'Use a lower-case hostname, such as blog.example.com.')

export const domainCheck = z.object({
  type: z.string(),
  name: z.string(),
  expected: z.string(),
  found: z.array(z.string()),
  ok: z.boolean(),
  message: z.string(),
})
export type DomainCheck = z.output<typeof domainCheck>

export const domainOffer = z.object({
  hostname: z.string(),
  available: z.boolean(),
  premium: z.boolean(),
  price_cents: z.number().int().nullable(),
  renewal_price_cents: z.number().int().nullable(),
  currency: z.string(),
  period_years: z.number().int(),
  free_with_credit: z.boolean(),
})
export type DomainOffer = z.output<typeof domainOffer>

const idParams = z.object({ id: z.string() })
const platformFields = { platform_ip: z.string(), purchase_enabled: z.boolean() }
const domainList = z.object({ ...platformFields, domains: z.array(domain) })

export const domainOperations = {
  listDomains: operation({
    method: 'GET',
    path: '/v1/domains',
    group: 'Domains',
    summary: 'List the domains of all my projects',
    description: 'Newest first (our reading).',
    access: 'caller',
    is_limited_to_project: true,
    params: empty,
    query: empty,
    success: { status: 200, json: domainList },
    errors: [],
  }),
  getDomain: operation({
    method: 'GET',
    path: '/v1/domains/{id}',
    resource: 'domain',
    group: 'Domains',
    summary: 'Get a domain, with its registrar and registrant',
    access: 'caller',
    params: idParams,
    query: empty,
    success: { status: 200, json: z.object({ platform_ip: z.string(), domain: domainDetail }) },
    errors: ['domain_not_found'],
  }),
  listProjectDomains: operation({
    method: 'GET',
    path: '/v1/projects/{slug}/domains',
    resource: 'project',
    group: 'Domains',
    summary: 'List the domains of a project',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 200, json: domainList },
    errors: ['project_not_found'],
  }),
  addDomain: operation({
    method: 'POST',
    path: '/v1/projects/{slug}/domains',
    resource: 'project',
    group: 'Domains',
    summary: 'Add a custom domain',
    description:
      'The domain is `pending` until its A record points to `platform_ip` and verify is called. A hostname belongs to one project of the instance. IP addresses in any notation, names under `localhost`, names of the instance itself and labels over 63 characters are rejected.',
    access: 'caller',
    params: projectParams,
    query: empty,
    body: z.strictObject({ hostname }),
    success: { status: 201, json: z.object({ domain }) },
    errors: ['invalid_input', 'payment_method_required', 'project_not_found', 'hostname_taken'],
    is_atomic: true,
  }),
  verifyDomain: operation({
    method: 'POST',
    path: '/v1/domains/{id}/verify',
    resource: 'domain',
    group: 'Domains',
    summary: 'Check whether the domain points to this instance',
    description:
      'A failed check is a successful response: status `failed`, with the records that were found and how to fix them. If DNS cannot be reached, a verified domain stays verified (our reading). Verified domains are checked again every day; after three checks in a row that find another address they are `failed` (our reading).',
    access: 'caller',
    scope: 'deploy',
    params: idParams,
    query: empty,
    success: { status: 200, json: z.object({ domain, checks: z.array(domainCheck) }) },
    errors: ['domain_not_found'],
  }),
  deleteDomain: operation({
    method: 'DELETE',
    path: '/v1/domains/{id}',
    resource: 'domain',
    group: 'Domains',
    summary: 'Remove a domain',
    description: 'Routing stops immediately. A bought domain stays with the account until it expires (our reading).',
    access: 'caller',
    params: idParams,
    query: empty,
    success: { status: 204 },
    errors: ['domain_not_found', 'forbidden'],
  }),
}

/** Domains that the instance sells. */
export const domainSalesOperations = {
  searchDomains: operation({
    method: 'GET',
    path: '/v1/domains/search',
    group: 'Domains',
    summary: 'Search for a domain to buy',
    description: 'Lists the exact name first, then the same label under other suffixes.',
    access: 'caller',
    params: empty,
    query: z.object({ q: z.string().min(1).max(253) }),
    success: { status: 200, json: z.object({ query: z.string(), purchase_enabled: z.boolean(), results: z.array(domainOffer) }) },
    errors: ['invalid_input', 'registrar_error', 'purchase_not_configured'],
  }),
  purchaseDomain: operation({
    method: 'POST',
    path: '/v1/projects/{slug}/domains/purchase',
    resource: 'project',
    group: 'Domains',
    summary: 'Buy a domain and route it to the project',
    description: 'Domain credits of the account are used first. With `expected_price_cents`, a different price is an error and nothing is bought.',
    access: 'caller',
    params: projectParams,
    query: empty,
    body: z.strictObject({
      hostname,
      period_years: z.number().int().min(1).max(10).default(1),
      auto_renew: z.boolean().default(true),
      expected_price_cents: z.number().int().min(0).optional(),
      registrant: registrant.optional(),
    }),
    success: { status: 201, json: z.object({ domain }) },
    errors: [
      'invalid_input',
      'payment_method_required',
      'forbidden',
      'project_not_found',
      'hostname_taken',
      'domain_unavailable',
      'price_changed',
      'registrar_error',
      'purchase_not_configured',
    ],
  }),
  transferDomain: operation({
    method: 'POST',
    path: '/v1/domains/{id}/transfer',
    resource: 'domain',
    group: 'Domains',
    summary: 'Transfer a bought domain to another registrar',
    access: 'caller',
    params: idParams,
    query: empty,
    success: { status: 200, json: z.object({ domain, auth_code: z.string() }) },
    errors: ['forbidden', 'domain_not_found', 'transfer_not_allowed', 'registrar_error', 'purchase_not_configured'],
  }),
}
