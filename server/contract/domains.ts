import { z } from 'zod'
import { limits } from './limits.ts'
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
  account_owned_domain_id: z.string().nullable().describe('Set when it was bought here; null when it was brought along.'),
  expires_at: dateTime.nullable(),
  auto_renew: z.boolean().nullable(),
  transfer_requested_at: dateTime.nullable(),
  project_id: z.string(),
  project_slug: z.string(),
  project_name: z.string(),
})
export type Domain = z.output<typeof domain>

export const registrant = z.strictObject({
  name: z.string().min(1).max(200),
  email: z.email().max(254),
  address: z.string().min(1).max(500),
  city: z.string().min(1).max(200),
  country: z.string().regex(/^[A-Z]{2}$/, 'Give the two letters of the country, such as DE.'),
  postal_code: z.string().min(1).max(20),
  phone: z.string().regex(/^\+?[0-9 .()-]{5,30}$/, 'Give a phone number with its country, such as +49 30 1234567.'),
})
export type Registrant = z.output<typeof registrant>

const domainDetail = domain.extend({ registrar: z.object({ name: z.string(), reference: z.string() }).nullable(), registrant: registrant.nullable() })

const hostname = z
  .string()
  .min(limits.hostname.min)
  .max(limits.hostname.max)
  .regex(/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/, 'Give a name such as blog.example.com, in lower case.')

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
    summary: 'List the domains of every project that I may see',
    description: 'Newest first (our reading).',
    access: 'caller',
    params: empty,
    query: empty,
    success: { status: 200, json: domainList },
    errors: [],
  }),
  getDomain: operation({
    method: 'GET',
    path: '/v1/domains/{id}',
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
    group: 'Domains',
    summary: 'Add a hostname of one’s own',
    description:
      'It is `pending` until its A record names `platform_ip` and verify was called. A hostname belongs to one project of the instance. IP addresses and what reads as one, names under `localhost`, names of the instance itself and labels over 63 characters are refused.',
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
    group: 'Domains',
    summary: 'Look whether the name leads here',
    description:
      'A check that fails is an answer as well: `failed`, with what was found and what to do. Where DNS cannot be asked, a name that is verified stays so (our reading); verified names are looked at again every day, and three looks in a row that find another address make them `failed` (our reading).',
    access: 'caller',
    params: idParams,
    query: empty,
    success: { status: 200, json: z.object({ domain, checks: z.array(domainCheck) }) },
    errors: ['domain_not_found'],
  }),
  deleteDomain: operation({
    method: 'DELETE',
    path: '/v1/domains/{id}',
    group: 'Domains',
    summary: 'Take a hostname away',
    description: 'Routing stops at once. A name that was bought stays the account’s until it expires (our reading).',
    access: 'caller',
    params: idParams,
    query: empty,
    success: { status: 204 },
    errors: ['domain_not_found', 'forbidden'],
  }),
}

/** Names that are sold here. */
export const domainSalesOperations = {
  searchDomains: operation({
    method: 'GET',
    path: '/v1/domains/search',
    group: 'Domains',
    summary: 'Look for a name to buy',
    description: 'The exact name first, then the same label under other endings.',
    access: 'caller',
    params: empty,
    query: z.object({ q: z.string().min(1).max(253) }),
    success: { status: 200, json: z.object({ query: z.string(), purchase_enabled: z.boolean(), results: z.array(domainOffer) }) },
    errors: ['invalid_input', 'registrar_error', 'purchase_not_configured'],
  }),
  purchaseDomain: operation({
    method: 'POST',
    path: '/v1/projects/{slug}/domains/purchase',
    group: 'Domains',
    summary: 'Buy a name and route it',
    description: 'Credits of the account pay first. With `expected_price_cents` nothing is bought at another price.',
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
    group: 'Domains',
    summary: 'Take a bought name to another registrar',
    access: 'caller',
    params: idParams,
    query: empty,
    success: { status: 200, json: z.object({ domain, auth_code: z.string() }) },
    errors: ['forbidden', 'domain_not_found', 'transfer_not_allowed', 'registrar_error', 'purchase_not_configured'],
  }),
}
