import type { DomainOffer } from '../../contract/domains.ts'
import { Problem } from '../../contract/errors.ts'
import { isoTime } from '../../lib/clock.ts'
import { type DomainQuote, type Registrar, RegistrarError } from '../registrar/registrar.ts'
import { findDomainByHostname, findDomainView, findCoveringOwnedDomain, updateDomain } from '../../store/domains.ts'
import type { Tx } from '../../store/store.ts'
import { findOwnedDomain, findOwnedDomainByHostname, updateOwnedDomain } from '../../store/owned-domains.ts'
import { findAccount } from '../../store/users.ts'
import type { AccountRow } from '../../store/tables.ts'
import { requireAccountOwner, requireDomain, requireProject } from '../../features/access.ts'
import type { OperationHandlers } from '../../features/context.ts'
import type { FeatureDeps } from '../../features/deps.ts'
import { ownedDomainEncryptionContext, requireRegistrarOf } from './orders.ts'
import { requireAvailableHostname, presentDomain } from '../../features/domains.ts'
import * as preconditions from '../../features/preconditions.ts'
import { requireAllowedHostname } from '../../features/hostname.ts'
import { suggestHostnames } from './search.ts'

type DomainSalesHandlers = Pick<OperationHandlers, 'searchDomains' | 'purchaseDomain' | 'transferDomain'>

export function createDomainSalesHandlers(deps: FeatureDeps): DomainSalesHandlers {
  const { domainVerifier, domainSales, clock, sealer } = deps
  const { db } = deps.store
  const now = () => isoTime(clock.now())

  const requireRegistrar = (): Registrar => {
    if (domainSales.registrars.active) return domainSales.registrars.active
    throw new Problem(
      'purchase_not_configured',
      'This instance does not sell domains. Start it with HOMEPORT_REGISTRAR=local, or with the keys of a registrar.',
    )
  }

  return {
    async searchDomains({ caller }, { query }) {
      const registrar = requireRegistrar()
      const names = suggestHostnames(query.q, registrar.suffixes)
      if (!names)
        throw new Problem('invalid_input', 'The search text is not a domain name.', {
          issues: [{ path: 'q', message: 'Use a name such as blog or blog.test.' }],
        })
      const [exact = '', ...others] = names
      // The exact name must be answered; other suffixes are included if the registrar responds in time.
      const [first, ...rest] = await Promise.all([
        translateRegistrarErrors(registrar.quote(exact)),
        ...others.map((name) => registrar.quote(name).catch((error: unknown) => ignoreRegistrarError(error))),
      ])
      const quotes = [first, ...rest].flatMap((quote, i) => (quote ? [{ quote, hostname: names[i] ?? exact }] : []))
      return db.read((tx) => {
        const account = findAccount(tx, caller.account_id)
        const results = quotes.map(({ hostname, quote }) => presentOffer(tx, registrar, hostname, quote, account, now()))
        return { query: query.q, purchase_enabled: domainVerifier.isPurchaseEnabled(), results }
      })
    },

    async purchaseDomain({ caller, project }, { body }) {
      const { hostname, period_years } = body
      const requireAvailable = (tx: Tx) => requireAvailableHostname(tx, caller, { hostname, account_id: project.account_id, now: now() })
      requireAccountOwner(caller, project.account_id, 'buy a domain')
      const { account, owned } = await db.read((tx) => {
        requireAllowedHostname(hostname, domainVerifier.instanceHostnames())
        const payingAccount = findAccount(tx, project.account_id)
        if (payingAccount) preconditions.requirePaymentMethod(payingAccount, 'A domain of your own', clock.now())
        return { account: payingAccount, owned: requireAvailable(tx) }
      })
      const registrar = requireRegistrar()
      if (owned?.hostname === hostname) {
        if (owned.is_registered === 0) throw new Problem('domain_unavailable', `${hostname} is already being bought. Check your domains in a moment.`)
        if (owned.transfer_requested_at !== null) throw new Problem('domain_unavailable', `${hostname} is being transferred to another registrar.`)
        await domainSales.orders.assignToProject(owned, project.id)
        return { domain: await readDomain(hostname) }
      }
      if (period_years > registrar.max_years)
        throw new Problem('invalid_input', 'This period is not available.', {
          issues: [
            {
              path: 'period_years',
              message: `${registrar.name} sells at most ${registrar.max_years}. The domain is renewed automatically after that.`,
            },
          ],
        })
      const quote = await translateRegistrarErrors(registrar.quote(hostname))
      const price_cents = requireQuotedPrice(hostname, quote, period_years, body.expected_price_cents)
      const charge = applyDomainCredits(quote, period_years, account)
      if (charge.due_cents > 0 && account?.has_payment_method !== 1)
        throw new Problem(
          'payment_method_required',
          `${hostname} costs ${formatUsd(price_cents)}, and the account has no payment method. Add a card.`,
        )
      try {
        await domainSales.orders.purchase(registrar, {
          account_id: project.account_id,
          project_id: project.id,
          hostname,
          period_years,
          auto_renew: body.auto_renew,
          price_cents: quote.price_cents ?? 0,
          credits: charge.credits,
          registrant: body.registrant ?? null,
          assertAvailable(tx) {
            // It may have been deleted while the registrar was asked.
            requireProject(tx, caller, project.slug)
            requireAvailable(tx)
          },
        })
      } catch (error) {
        if (!(error instanceof RegistrarError)) throw error
        // The registrar may have refused because the domain or its price changed.
        if (error.outcome === 'refused') requireQuotedPrice(hostname, await registrar.quote(hostname).catch(() => quote), period_years, price_cents)
        throw registrarProblem(error)
      }
      return { domain: await readDomain(hostname) }
    },

    async transferDomain({ caller, domain }) {
      requireAccountOwner(caller, domain.project_account_id, 'transfer a domain')
      const { owned_domain_id } = domain
      const owned = owned_domain_id === null ? undefined : await db.read((tx) => findOwnedDomain(tx, owned_domain_id))
      if (!owned)
        throw new Problem(
          'transfer_not_allowed',
          'This domain was not bought here, so it cannot be transferred here. Transfer it at its own registrar.',
        )
      if (owned.expires_at <= now()) throw new Problem('transfer_not_allowed', `This domain expired on ${owned.expires_at.slice(0, 10)}.`)
      if (!domainSales.registrars.get(owned.registrar))
        throw new Problem('purchase_not_configured', `The registrar ${owned.registrar}, where this domain was bought, is no longer configured.`)
      // A repeated request returns the same code, because the first may already be in use.
      const auth_code =
        owned.sealed_auth_code && owned.transfer_requested_at
          ? sealer.unseal(ownedDomainEncryptionContext('sealed_auth_code', owned.id), owned.sealed_auth_code)
          : await translateRegistrarErrors(requireRegistrarOf(domainSales.registrars, owned).getAuthCode(owned.hostname))
      const view = await db.write((tx) => {
        // It may have been deleted while the registrar was asked.
        const current = requireDomain(tx, caller, domain.id)
        updateOwnedDomain(tx, owned.id, {
          sealed_auth_code: sealer.seal(ownedDomainEncryptionContext('sealed_auth_code', owned.id), auth_code),
          transfer_requested_at: owned.transfer_requested_at ?? now(),
        })
        updateDomain(tx, current.id, { status: 'transfer_requested' })
        tx.publish({ type: 'project_changed', id: current.project_id })
        return findDomainView(tx, current.id) ?? current
      })
      deps.deployments.refreshHosts(view.project_id)
      return { domain: presentDomain(view, null), auth_code }
    },
  }

  async function readDomain(hostname: string) {
    const view = await db.read((tx) => findDomainByHostname(tx, hostname))
    // The project was deleted during the purchase. The account still owns the domain.
    if (!view) throw new Problem('project_not_found', 'The project was deleted in the meantime. You own the domain: add it to another project.')
    return presentDomain(view, null)
  }
}

function presentOffer(tx: Tx, registrar: Registrar, hostname: string, quote: DomainQuote, account: AccountRow | undefined, now: string): DomainOffer {
  const isTaken = findDomainByHostname(tx, hostname) ?? findCoveringOwnedDomain(tx, hostname, now) ?? findOwnedDomainByHostname(tx, hostname)
  return {
    hostname,
    available: quote.available && !isTaken,
    premium: quote.premium,
    price_cents: quote.price_cents,
    renewal_price_cents: quote.renewal_price_cents,
    currency: registrar.currency,
    period_years: 1,
    free_with_credit: applyDomainCredits(quote, 1, account).credits > 0,
  }
}

/** The price of the whole period. Throws if the domain is unavailable or the price is not the expected one. */
function requireQuotedPrice(hostname: string, quote: DomainQuote, years: number, expected_cents: number | undefined): number {
  if (!quote.available || quote.price_cents === null)
    throw new Problem('domain_unavailable', `${hostname} is not available. Search for other domains with GET /v1/domains/search.`)
  const price = quote.price_cents + (years - 1) * (quote.renewal_price_cents ?? quote.price_cents)
  if (expected_cents !== undefined && expected_cents !== price)
    throw new Problem('price_changed', `The price of ${hostname} is now ${formatUsd(price)}, not ${formatUsd(expected_cents)}. Nothing was bought.`)
  return price
}

/** One credit pays one year of a domain that has a price. Premium domains are excluded. */
function applyDomainCredits(
  quote: DomainQuote,
  years: number,
  account: Pick<AccountRow, 'free_domain_credits'> | undefined,
): { credits: number; due_cents: number } {
  const first = quote.price_cents ?? 0
  const later = quote.renewal_price_cents ?? first
  const prices = Array.from({ length: years }, (_, i) => (i === 0 ? first : later))
  const credits = quote.premium || first === 0 ? 0 : Math.min(account?.free_domain_credits ?? 0, years)
  return { credits, due_cents: prices.slice(credits).reduce((sum, price) => sum + price, 0) }
}

const formatUsd = (cents: number): string => `${(cents / 100).toFixed(2)} USD`

async function translateRegistrarErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof RegistrarError ? registrarProblem(error) : error
  }
}

const registrarProblem = (error: RegistrarError) => new Problem('registrar_error', error.message, { cause: error.cause })

function ignoreRegistrarError(error: unknown): undefined {
  if (!(error instanceof RegistrarError)) throw error
}
