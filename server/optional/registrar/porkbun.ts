import { z } from 'zod'
import { type Clock, timeoutSignal } from '../../lib/clock.ts'
import { type DomainQuote, type Registrar, RegistrarError, addYears } from './registrar.ts'

export interface PorkbunOptions {
  api_key: string
  secret_key: string
  /** Replaces the URL of Porkbun's API, for a fake. */
  api_base: string | null
  clock: Clock
  timeout_ms?: number
}

const defaultBaseUrl = 'https://api.porkbun.com/api/json/v3'

/** Dollars as text, such as "9.73" or "1,200.00". */
const dollarsToCents = z.union([z.string(), z.number()]).transform((text, context) => {
  const value = Number(String(text).replaceAll(',', ''))
  if (Number.isFinite(value) && value >= 0) return Math.round(value * 100)
  context.addIssue('not an amount')
  return z.NEVER
})
const checkSchema = z.object({
  response: z.object({
    avail: z.string(),
    premium: z.union([z.string(), z.boolean()]).optional(),
    price: dollarsToCents,
    regularPrice: dollarsToCents.optional(),
    additional: z.object({ renewal: z.object({ price: dollarsToCents }).optional() }).optional(),
  }),
})
const createSchema = z.object({ orderId: z.union([z.number(), z.string()]).optional() })
const listSchema = z.object({ domains: z.array(z.object({ domain: z.string(), expireDate: z.string() })) })
const pricingSchema = z.object({ pricing: z.record(z.string(), z.object({ renewal: dollarsToCents })) })

const page_size = 1000
/** Limits the search to this many pages of an account's domains. */
const maxPages = 20

/**
 * Porkbun's API, version 3: JSON over POST with both keys in the body. Responses have amounts in dollars, requests in cents. It sells only
 * the shortest period, from the credit of the operator's account, and does not provide transfer codes.
 */
export function createPorkbunRegistrar(options: PorkbunOptions): Registrar {
  const { api_key, secret_key, clock, timeout_ms = 20_000 } = options
  const base = (options.api_base ?? defaultBaseUrl).replace(/\/+$/, '')

  const callApi = async <T>(path: string, schema: z.ZodType<T>, body: Record<string, unknown> = {}, key?: string): Promise<T> => {
    let status: number
    let answer: unknown
    try {
      const response = await fetch(`${base}${path}`, {
        method: 'POST',
        redirect: 'error',
        headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) },
        body: JSON.stringify({ ...body, apikey: api_key, secretapikey: secret_key }),
        signal: timeoutSignal(clock, timeout_ms),
      })
      status = response.status
      answer = await response.json()
    } catch (cause) {
      throw new RegistrarError('unknown', 'The registrar Porkbun did not respond. Try again in a minute.', cause)
    }
    const envelope = z.object({ status: z.string(), message: z.string().optional() }).safeParse(answer)
    if (envelope.data?.status === 'SUCCESS') {
      const parsed = schema.safeParse(answer)
      if (parsed.success) return parsed.data
      throw new RegistrarError('unknown', 'The registrar Porkbun sent a response that Homeport does not understand.', parsed.error)
    }
    const why = sanitizeMessage(envelope.data?.message)
    // An error of the API itself means that nothing was done. After a gateway error, the order may have been executed.
    throw new RegistrarError(envelope.data?.status === 'ERROR' && status < 500 ? 'refused' : 'unknown', `The registrar Porkbun refused: ${why}`)
  }

  const findRegistration = async (hostname: string) => {
    for (let at = 0; at < maxPages; at++) {
      const { domains } = await callApi('/domain/listAll', listSchema, { start: String(at * page_size) })
      const one = domains.find((domain) => domain.domain.toLowerCase() === hostname)
      if (one) return { reference: hostname, expires_at: parseUtc(one.expireDate) }
      if (domains.length < page_size) return undefined
    }
    return undefined
  }

  return {
    name: 'porkbun',
    suffixes: ['com', 'net', 'org', 'dev', 'app'],
    currency: 'USD',
    max_years: 1,
    async quote(hostname): Promise<DomainQuote> {
      const { response } = await callApi(`/domain/checkDomain/${hostname}`, checkSchema)
      const premium = response.premium === true || response.premium === 'yes'
      return {
        // A premium name cannot be bought through the API.
        available: response.avail === 'yes' && !premium,
        premium,
        price_cents: response.price,
        renewal_price_cents: response.additional?.renewal?.price ?? response.regularPrice ?? null,
      }
    },
    async getRenewalPrice(hostname) {
      const { pricing } = await callApi('/pricing/get', pricingSchema)
      const price = pricing[hostname.slice(hostname.indexOf('.') + 1)]
      if (!price) throw new RegistrarError('refused', 'The registrar Porkbun has no renewal price for this domain.')
      return price.renewal
    },
    async register({ hostname, price_cents, key }) {
      const { orderId } = await callApi(`/domain/create/${hostname}`, createSchema, { cost: price_cents, agreeToTerms: 'yes' }, key)
      // The order succeeded. The expiry date is fetched separately, and again by the next periodic check if that fails.
      const found = await findRegistration(hostname).catch(() => undefined)
      return { reference: String(orderId ?? hostname), expires_at: found?.expires_at ?? addYears(clock.now(), 1) }
    },
    findRegistration,
    async pointToAddress(hostname, address) {
      // A new domain has records for Porkbun's parking page, which must be deleted. An already deleted record is not an error.
      for (const type of ['ALIAS', 'A', 'AAAA', 'CNAME'])
        await callApi(`/dns/deleteByNameType/${hostname}/${type}`, z.unknown()).catch((error: unknown) => {
          if (error instanceof RegistrarError && error.outcome === 'refused') return
          throw error
        })
      await callApi(`/dns/create/${hostname}`, z.unknown(), { name: '', type: address.includes(':') ? 'AAAA' : 'A', content: address, ttl: '600' })
      // Homeport renews domains itself.
      await callApi(`/domain/updateAutoRenew/${hostname}`, z.unknown(), { status: 'off' })
    },
    async renew({ hostname, expires_at, price_cents }) {
      await callApi(`/domain/renew/${hostname}`, z.unknown(), { cost: price_cents }, `renew-${hostname}-${expires_at}`)
      const found = await findRegistration(hostname).catch(() => undefined)
      return { expires_at: found && found.expires_at > expires_at ? found.expires_at : addYears(Date.parse(expires_at), 1) }
    },
    async getAuthCode() {
      throw new RegistrarError('refused', 'Porkbun provides the transfer code only on its website: Domain Management, Details, Authorization Code.')
    },
  }
}

/** `2027-02-18 23:59:50`, in UTC. */
function parseUtc(text: string): string {
  const time = Date.parse(`${text.trim().replace(' ', 'T').replace(/Z$/, '')}Z`)
  if (Number.isNaN(time)) throw new RegistrarError('unknown', 'The registrar Porkbun sent a date that Homeport does not understand.')
  return new Date(time).toISOString()
}

/** Makes a third-party message safe: plain text, one line, limited length. */
const sanitizeMessage = (message = 'it gave no reason'): string =>
  message
    .replace(/<[^>]*>|\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, 300)
