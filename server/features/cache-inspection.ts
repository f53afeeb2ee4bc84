import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { Problem } from '../contract/errors.ts'
import type { ValidationIssue } from '../contract/errors.ts'
import type { CacheInspectionResult } from '../contract/network.ts'
import { type Clock, timeoutSignal } from '../lib/clock.ts'
import type { Artifact } from '../runtime/runtime.ts'
import { listCurrentDeployments } from '../store/deployments.ts'
import type { Tx } from '../store/store.ts'
import type { ProjectRow } from '../store/tables.ts'
import { parseProjectUrl, listProductionHostnames } from './project-url.ts'
import type { FeatureDeps } from './deps.ts'

export interface InspectCacheInput {
  url: string
  headers?: Record<string, string> | undefined
  send?: boolean | undefined
}

/** Maximum size read of the real response. It is read completely, so that the edge can store it. */
const probeLimits = { ms: 25_000, bytes: 64 * 1024 * 1024 }

/** Reports what the cache does with a URL of a project, and optionally the response to a real request. */
export async function inspectCachedUrl(
  deps: FeatureDeps,
  project: ProjectRow,
  inspection: InspectCacheInput,
  signal: AbortSignal,
): Promise<CacheInspectionResult> {
  const { names: hostnames, without: uncached } = await deps.store.db.read((tx) => ({
    names: listProductionHostnames(tx, project, deps.apps_domain),
    without: uncachedInspection(tx, project),
  }))
  const parsed = parseProjectUrl(inspection.url, hostnames)
  const headers = lowerCaseHeaderNames(inspection.headers ?? {})
  const issues: ValidationIssue[] = [...('error' in parsed ? [{ path: 'url', message: parsed.error }] : []), ...validateHeaders(headers)]
  if ('error' in parsed || issues.length > 0)
    throw new Problem('invalid_input', `The body is invalid. ${issues[0]?.path}: ${issues[0]?.message}`, { issues })

  const edge = deps.edgeAddress(parsed.is_secure)
  const name = parsed.host ?? `${project.slug}.localhost`
  // The host as a browser writes it in the Host header.
  const host = edge.port === (edge.is_secure ? 443 : 80) ? name : `${name}:${edge.port}`
  const origin = `${edge.is_secure ? 'https' : 'http'}://${host}`
  const found = await deps.cache.inspect({ project_id: project.id, origin, target: parsed.target, headers })
  const answer = inspection.send === true ? await sendProbe({ edge, name, host, target: parsed.target, headers, signal, clock: deps.clock }) : null
  return { url: `${origin}${parsed.target}`, ...found, ...uncached, answer }
}

/** The result for projects without a running app: nothing live, or a static site. */
function uncachedInspection(tx: Tx, project: ProjectRow): Pick<CacheInspectionResult, 'cache_status' | 'why' | 'stored'> | undefined {
  const current = listCurrentDeployments(tx, project.id).find((row) => row.target === 'production')
  if (!current || current.artifact === null || project.status === 'crashed')
    return { cache_status: 'BYPASS', why: 'The project is not live. Visitors see a page that explains why.', stored: null }
  if ((JSON.parse(current.artifact) as Artifact).kind !== 'static') return undefined
  return { cache_status: 'HIT', why: 'This is a static site. The edge serves the files of the current deployment directly.', stored: null }
}

const lowerCaseHeaderNames = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** Headers that control the transport and cannot be set. */
const forbiddenHeaders = new Set(
  'host connection content-length transfer-encoding te trailer upgrade expect keep-alive proxy-connection x-homeport-probe'.split(' '),
)

function validateHeaders(headers: Record<string, string>): ValidationIssue[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const message = !/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name)
      ? 'This is not a valid header name.'
      : forbiddenHeaders.has(name)
        ? 'This header cannot be set here.'
        : /[^\t\x20-\x7e\x80-\xff]/.test(value)
          ? 'A header must not contain control characters, or characters outside of Latin-1.'
          : undefined
    return message === undefined ? [] : [{ path: `headers.${name.slice(0, 100)}`, message }]
  })
}

interface ProbeRequest {
  edge: ReturnType<FeatureDeps['edgeAddress']>
  name: string
  host: string
  target: string
  headers: Record<string, string>
  signal: AbortSignal
  clock: Clock
}

/** Sends a real GET through the edge and reads the whole response; null if no headers arrived in time. */
function sendProbe({ edge, name, host, target, headers, signal, clock }: ProbeRequest): Promise<CacheInspectionResult['answer']> {
  const startedAt_ms = performance.now()
  const request = edge.is_secure ? httpsRequest : httpRequest
  return new Promise((resolve) => {
    const timeout = AbortSignal.any([signal, timeoutSignal(clock, probeLimits.ms)])
    const clientRequest = request(
      {
        host: edge.host,
        port: edge.port,
        path: target,
        agent: false,
        headers: { accept: '*/*', ...headers, host },
        signal: timeout,
        // The request goes to this platform's own listener, whose authority need not be trusted.
        ...(edge.is_secure ? { servername: name, rejectUnauthorized: false } : {}),
      },
      (response) => {
        const ms = Math.round((performance.now() - startedAt_ms) * 10) / 10
        const headerPairs = response.rawHeaders.flatMap((name, i) =>
          i % 2 === 0 ? [[name, response.rawHeaders[i + 1] ?? ''] satisfies [string, string]] : [],
        )
        const headerValue = (name: string) =>
          headerPairs
            .filter(([one]) => one.toLowerCase() === name)
            .map(([, value]) => value)
            .join(', ') || null
        const age = headerValue('age')
        let bytes = 0
        response.on('data', (part: Buffer) => {
          bytes += part.length
          if (bytes > probeLimits.bytes) response.destroy()
        })
        response.on('error', () => {})
        response.on('close', () =>
          resolve({
            status: response.statusCode ?? 0,
            x_cache: headerValue('x-cache'),
            cache_status: headerValue('cache-status'),
            age_s: age === null ? null : Number(age),
            ms,
            headers: headerPairs,
          }),
        )
      },
    )
    clientRequest.on('error', () => resolve(null))
    clientRequest.end()
  })
}
