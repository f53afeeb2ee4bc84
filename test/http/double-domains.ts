/** Handlers of domains, for the double: one domain that everybody has. */
import type { Domain } from '../../server/contract/domains.ts'
import type { Handlers } from '../../server/contract/index.ts'
import type { Project } from '../../server/contract/projects.ts'
import type { Context } from '../../server/features/context.ts'

type DomainHandlers = Pick<
  Handlers<Context>,
  | 'listDomains'
  | 'getDomain'
  | 'listProjectDomains'
  | 'addDomain'
  | 'verifyDomain'
  | 'deleteDomain'
  | 'searchDomains'
  | 'purchaseDomain'
  | 'transferDomain'
>

const now = '2026-01-31T12:00:00.000Z'

export function sampleDomain(hostname: string): Domain {
  return {
    id: 'dom_1',
    hostname,
    status: 'pending',
    verified_at: null,
    last_check_at: null,
    last_check_error: null,
    created_at: now,
    account_owned_domain_id: null,
    expires_at: null,
    auto_renew: null,
    transfer_requested_at: null,
    project_id: 'prj_1',
    project_slug: 'abc',
    project_name: 'abc',
  }
}

export function createDomainHandlers(visible: (context: Pick<Context, 'caller'>, slug: string) => Project): DomainHandlers {
  const domain = sampleDomain('blog.example.com')
  const where = { platform_ip: '127.0.0.1', purchase_enabled: false }
  return {
    listDomains: async () => ({ ...where, domains: [domain] }),
    getDomain: async () => ({ platform_ip: '127.0.0.1', domain: { ...domain, registrar: null, registrant: null } }),
    async listProjectDomains(context, { params }) {
      visible(context, params.slug)
      return { ...where, domains: [domain] }
    },
    async addDomain(context, { params, body }) {
      visible(context, params.slug)
      return { domain: sampleDomain(body.hostname) }
    },
    verifyDomain: async () => ({
      domain: { ...domain, status: 'failed' as const, last_check_at: now, last_check_error: 'DNS does not know blog.example.com.' },
      checks: [{ type: 'A', name: domain.hostname, expected: '127.0.0.1', found: [], ok: false, message: 'DNS does not know blog.example.com.' }],
    }),
    deleteDomain: async () => {},
    searchDomains: async (_, { query }) => ({
      query: query.q,
      purchase_enabled: true,
      results: [
        {
          hostname: 'blog.test',
          available: true,
          premium: false,
          price_cents: 0,
          renewal_price_cents: 0,
          currency: 'USD',
          period_years: 1,
          free_with_credit: false,
        },
      ],
    }),
    async purchaseDomain(context, { params, body }) {
      visible(context, params.slug)
      return { domain: { ...sampleDomain(body.hostname), status: 'verified' as const, auto_renew: body.auto_renew, expires_at: now } }
    },
    transferDomain: async () => ({ domain: { ...domain, status: 'transfer_requested' as const, transfer_requested_at: now }, auth_code: 'code' }),
  }
}
