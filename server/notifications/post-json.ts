import { lookup, type LookupAddress, type LookupAllOptions } from 'node:dns'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Clock } from '../lib/clock.ts'
import { stripBrackets } from '../remotes/origin.ts'
import { getTrustedContext } from '../remotes/trusted-context.ts'
import { explainAddress, isLocalhost } from './target-address.ts'

interface JsonRequest {
  url: string
  /** The URL may lead to this machine and its local network. */
  is_trusted: boolean
  headers: Record<string, string>
  body: string
  timeout_ms: number
  signal: AbortSignal
}

/** Resolves host names; the system's resolver except in tests. */
export type ResolveAll = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** The request is not sent. The message is for the user. */
class ForbiddenAddressError extends Error {}

/**
 * A lookup that refuses hosts with an address that `explainAddress` refuses. Throws for such an IP address, because Node does not look that up. Errors are
 * for `explainPostError`.
 */
export function createCheckedLookup(url: Pick<URL, 'protocol' | 'hostname'>, is_trusted: boolean, resolveAll: ResolveAll = lookup): LookupFunction {
  const host = stripBrackets(url.hostname)
  const problem = isIP(host) === 0 ? undefined : explainAddress(host, url, is_trusted)
  if (problem !== undefined) throw new ForbiddenAddressError(problem)
  return (hostname, options, callback) =>
    resolveAll(isLocalhost(hostname) ? 'localhost' : hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '')
      const refusals = addresses.map(({ address }) => explainAddress(address, url, is_trusted)).filter((one) => one !== undefined)
      const first = addresses[0]
      // One forbidden address of several is enough, because the name is then not what it seems.
      if (refusals[0] !== undefined || !first) return callback(new ForbiddenAddressError(refusals[0] ?? 'The host has no address.'), '')
      if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
}

/**
 * Sends a POST request and resolves with the status of the response, whose body is not read. Redirects are not followed, and the resolved address is
 * checked at each connection (SECURITY.md, T7). Rejects with an error for `explainPostError`.
 */
export function postJson(
  clock: Clock,
  { url: text, is_trusted, headers, body, timeout_ms, signal }: JsonRequest,
  resolveAll: ResolveAll = lookup,
): Promise<number> {
  const url = new URL(text)
  const host = stripBrackets(url.hostname)
  const isSecure = url.protocol === 'https:'
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  let checkedLookup: LookupFunction
  try {
    checkedLookup = createCheckedLookup(url, is_trusted, resolveAll)
  } catch (error) {
    return Promise.reject(error)
  }

  const bytes = Buffer.from(body)
  const request = (isSecure ? requestHttps : requestHttp)({
    host,
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    method: 'POST',
    path: `${url.pathname}${url.search}`,
    headers: { 'content-type': 'application/json', ...headers, 'content-length': bytes.length, host: url.host },
    agent: false,
    lookup: checkedLookup,
    insecureHTTPParser: false,
    maxHeaderSize: 16 * 1024,
    signal,
    ...(isSecure ? { rejectUnauthorized: true, secureContext: getTrustedContext() } : {}),
  })
  const timer = clock.setTimeout(() => request.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })), timeout_ms).unref()
  request.once('response', (response) => {
    // Nothing of the body is needed, and reading it would let the other side keep the connection open.
    response.on('error', () => {})
    response.destroy()
    resolve(response.statusCode ?? 0)
  })
  request.on('error', reject)
  request.once('close', () => {
    timer.cancel()
    reject(new Error('The connection ended without a response.'))
  })
  request.end(bytes)
  return promise
}

/** A sentence for the list of attempts. Contains nothing of the URL or the response. */
export function explainPostError(error: unknown): string {
  if (error instanceof ForbiddenAddressError) return error.message
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' && /^[A-Z0-9_]+$/.test(error.code) ? error.code : ''
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `The host could not be resolved (${code}).`
  if (code === 'ECONNREFUSED') return 'The connection was refused (ECONNREFUSED).'
  if (code === 'ETIMEDOUT') return 'There was no response in time.'
  if (/CERT|SELF_SIGNED|ALTNAME|UNABLE_TO/.test(code)) return `The certificate of the host is not trusted (${code}).`
  return `There was no valid response${code === '' ? '' : ` (${code})`}.`
}
