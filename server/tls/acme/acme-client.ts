import { createHash, createPublicKey, sign, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import { version } from '../../contract/index.ts'
import { type Clock, sleep, timeoutSignal } from '../../lib/clock.ts'

/** What the authority refused, by its problem type (RFC 8555 §6.7), or `unreachable`. The message is the authority's own. */
export class AcmeError extends Error {
  readonly type: string
  /** When the authority wants to be asked again. */
  readonly retry_after_ms: number | undefined
  constructor(type: string, message: string, options: ErrorOptions & { retry_after_ms?: number | undefined } = {}) {
    super(message, options)
    this.type = type
    this.retry_after_ms = options.retry_after_ms
  }
}

export interface AcmeClientOptions {
  directory: string
  email: string
  clock: Clock
  /** The key of the account, on P-256. */
  key: KeyObject
  /** The URL of the account, if it exists. */
  account_url: string | undefined
  /** Called when the account was created or found. */
  onAccount(url: string): Promise<void>
}

export interface Challenge {
  type: 'http-01' | 'dns-01'
  /** Without the `*.` of a wildcard. */
  name: string
  token: string
  /** The body of the response to an HTTP-01 challenge (RFC 8555 §8.1). */
  key_authorization: string
  /** The value of the TXT record of a DNS-01 challenge (RFC 8555 §8.4). */
  txt_value: string
}

export interface AcmeClient {
  /**
   * Orders the certificate that a signing request is about, and resolves with its chain in PEM. `solve` makes the response to a challenge available;
   * what it resolves with is called when the authority has decided.
   */
  order(wanted: {
    name: string
    request: Buffer
    challenge: Challenge['type']
    solve(challenge: Challenge): Promise<() => Promise<void>>
    signal: AbortSignal
  }): Promise<string>
}

const problemSchema = z.object({ type: z.string().default(''), detail: z.string().default('') })
const directorySchema = z.object({ newNonce: z.string(), newAccount: z.string(), newOrder: z.string() })
const orderSchema = z.object({
  status: z.string(),
  authorizations: z.array(z.string()).default([]),
  finalize: z.string(),
  certificate: z.string().optional(),
  error: problemSchema.optional(),
})
const authorizationSchema = z.object({
  status: z.string(),
  identifier: z.object({ value: z.string() }),
  challenges: z.array(z.object({ type: z.string(), url: z.string(), token: z.string().default(''), error: problemSchema.optional() })),
})

const requestTimeout_ms = 30_000
/** How long the authority may take to decide. */
const decisionTimeout_ms = 120_000
const pollInterval_ms = 1_000
const maxPollInterval_ms = 10_000
/** An authority may refuse any nonce (RFC 8555 §6.5), and tests make it do so often. */
const maxNonceAttempts = 20

const base64url = (data: string | Uint8Array): string => Buffer.from(data).toString('base64url')

/** A client of an ACME authority (RFC 8555), for one account and one order at a time. */
export function createAcmeClient({ directory, email, clock, key, account_url, onAccount }: AcmeClientOptions): AcmeClient {
  const { crv, kty, x, y } = createPublicKey(key).export({ format: 'jwk' })
  // The order of the members is that of the thumbprint (RFC 7638 §3.2).
  const jwk = { crv, kty, x, y }
  const thumbprint = createHash('sha256').update(JSON.stringify(jwk)).digest('base64url')
  let urls: z.output<typeof directorySchema> | undefined
  let nonce: string | undefined
  let account = account_url

  const send = async (
    url: string,
    init: { method?: string; headers?: Record<string, string>; body?: string },
    signal: AbortSignal,
  ): Promise<{ response: Response; text: string }> => {
    try {
      const response = await fetch(url, {
        ...init,
        redirect: 'error',
        headers: { 'user-agent': `homeport/${version}`, ...init.headers },
        signal: AbortSignal.any([signal, timeoutSignal(clock, requestTimeout_ms)]),
      })
      nonce = response.headers.get('replay-nonce') ?? nonce
      return { response, text: await response.text() }
    } catch (cause) {
      if (signal.aborted) throw signal.reason
      throw new AcmeError('unreachable', `${new URL(directory).hostname} did not respond.`, { cause })
    }
  }

  /** A signed request (RFC 8555 §6.2). `payload` null: POST-as-GET. */
  const post = async (url: string, payload: object | null, signal: AbortSignal, as: 'key' | 'account' = 'account') => {
    for (let attempt = 1; ; attempt++) {
      const identity = as === 'key' ? { jwk } : { kid: (account ??= await register(signal)) }
      if (nonce === undefined) await send((await findUrls(signal)).newNonce, { method: 'HEAD' }, signal)
      const head = base64url(JSON.stringify({ alg: 'ES256', nonce, url, ...identity }))
      const body = payload === null ? '' : base64url(JSON.stringify(payload))
      nonce = undefined
      const signature = sign('sha256', Buffer.from(`${head}.${body}`), { key, dsaEncoding: 'ieee-p1363' })
      const { response, text } = await send(
        url,
        {
          method: 'POST',
          headers: { 'content-type': 'application/jose+json' },
          body: JSON.stringify({ protected: head, payload: body, signature: base64url(signature) }),
        },
        signal,
      )
      if (response.ok) return { response, text }
      const error = toError(response, text, clock.now())
      if (attempt >= maxNonceAttempts) throw error
      // The authority has forgotten the account, which the next attempt creates again.
      if (error.type === 'accountDoesNotExist' && as === 'account') account = undefined
      else if (error.type !== 'badNonce') throw error
    }
  }

  const findUrls = async (signal: AbortSignal) => {
    if (urls) return urls
    const { response, text } = await send(directory, {}, signal)
    if (!response.ok) throw toError(response, text, clock.now())
    return (urls = parse(directorySchema, text))
  }

  const register = async (signal: AbortSignal): Promise<string> => {
    const { newAccount } = await findUrls(signal)
    const { response } = await post(newAccount, { termsOfServiceAgreed: true, contact: [`mailto:${email}`] }, signal, 'key')
    const url = requireLocation(response)
    await onAccount(url)
    return url
  }

  /** Asks again until the authority has decided. */
  const poll = async <T extends { status: string }>(url: string, schema: z.ZodType<T>, open: readonly string[], signal: AbortSignal): Promise<T> => {
    const end = clock.monotonic() + decisionTimeout_ms
    for (;;) {
      const { response, text } = await post(url, null, signal)
      const found = parse(schema, text)
      if (!open.includes(found.status)) return found
      if (clock.monotonic() > end) throw new AcmeError('unreachable', `${new URL(directory).hostname} did not decide in time.`)
      await sleep(clock, Math.min(readRetryAfter(response, clock.now()) ?? pollInterval_ms, maxPollInterval_ms), signal)
    }
  }

  const authorize = async (url: string, { challenge, solve, signal }: Pick<Parameters<AcmeClient['order']>[0], 'challenge' | 'solve' | 'signal'>) => {
    const { status, identifier, challenges } = parse(authorizationSchema, (await post(url, null, signal)).text)
    if (status === 'valid') return
    const offered = challenges.find(({ type }) => type === challenge)
    if (!offered) throw new AcmeError('unsupported', `The certificate authority does not offer ${challenge} for ${identifier.value}.`)
    const key_authorization = `${offered.token}.${thumbprint}`
    const txt_value = createHash('sha256').update(key_authorization).digest('base64url')
    const undo = await solve({ type: challenge, name: identifier.value, token: offered.token, key_authorization, txt_value })
    try {
      await post(offered.url, {}, signal)
      const decided = await poll(url, authorizationSchema, ['pending', 'processing'], signal)
      if (decided.status === 'valid') return
      const { type = '', detail = `The authorization is ${decided.status}.` } = decided.challenges.find(({ error }) => error)?.error ?? {}
      throw new AcmeError(nameOf(type), detail)
    } finally {
      await undo()
    }
  }

  return {
    async order({ name, request, signal, ...rest }) {
      const created = await post((await findUrls(signal)).newOrder, { identifiers: [{ type: 'dns', value: name }] }, signal)
      const orderUrl = requireLocation(created.response)
      for (const url of parse(orderSchema, created.text).authorizations) await authorize(url, { ...rest, signal })
      const ready = await poll(orderUrl, orderSchema, ['pending'], signal)
      if (ready.status === 'ready') await post(ready.finalize, { csr: base64url(request) }, signal)
      const { status, certificate, error } = await poll(orderUrl, orderSchema, ['ready', 'processing'], signal)
      if (status !== 'valid' || certificate === undefined) throw new AcmeError(nameOf(error?.type ?? ''), error?.detail ?? `The order is ${status}.`)
      return (await post(certificate, null, signal)).text
    },
  }
}

const nameOf = (type: string): string => type.slice(type.lastIndexOf(':') + 1)

function toError(response: Response, text: string, now: number): AcmeError {
  const { type, detail } = problemSchema.safeParse(parseJson(text)).data ?? { type: '', detail: '' }
  return new AcmeError(nameOf(type), detail === '' ? `The certificate authority answered ${response.status}.` : detail, {
    retry_after_ms: readRetryAfter(response, now),
  })
}

function parse<T>(schema: z.ZodType<T>, text: string): T {
  const { data, error } = schema.safeParse(parseJson(text))
  if (error) throw new AcmeError('unexpected', 'The certificate authority sent a response that Homeport does not understand.', { cause: error })
  return data
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function requireLocation(response: Response): string {
  const url = response.headers.get('location')
  if (url === null) throw new AcmeError('unexpected', 'The certificate authority sent a response without a Location.')
  return url
}

/** Seconds or a date (RFC 9110 §10.2.3). */
function readRetryAfter(response: Response, now: number): number | undefined {
  const text = response.headers.get('retry-after')
  if (text === null) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined
}
