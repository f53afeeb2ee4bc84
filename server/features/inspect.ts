import { request as requestPlainly } from 'node:http'
import { request as requestSecurely } from 'node:https'
import { Problem } from '../contract/errors.ts'
import type { Issue } from '../contract/errors.ts'
import type { CacheVerdict } from '../contract/network.ts'
import { type Clock, timeoutSignal } from '../lib/clock.ts'
import type { Artifact } from '../runtime/runtime.ts'
import { listCurrent } from '../store/deployments.ts'
import type { Tx } from '../store/open.ts'
import type { ProjectRow } from '../store/tables.ts'
import { addressIn, namesOf } from './address.ts'
import type { FeatureDeps } from './deps.ts'

export interface Question {
  url: string
  headers?: Record<string, string> | undefined
  send?: boolean | undefined
}

/** What is read of a real answer, so that the edge gets it whole and may store it. */
const readWithin = { ms: 25_000, bytes: 64 * 1024 * 1024 }

/** What the cache does with an address of a project now, and if wanted what a real request for it gets. */
export async function inspectCache(deps: FeatureDeps, project: ProjectRow, question: Question, signal: AbortSignal): Promise<CacheVerdict> {
  const { names, without } = await deps.store.db.read((tx) => ({ names: namesOf(tx, project.id), without: withoutCache(tx, project) }))
  const found = addressIn(question.url, names)
  const headers = lowerCased(question.headers ?? {})
  const issues: Issue[] = [...('fault' in found ? [{ path: 'url', message: found.fault }] : []), ...faultsOf(headers)]
  if ('fault' in found || issues.length > 0)
    throw new Problem('invalid_input', `The body is not in order. ${issues[0]?.path}: ${issues[0]?.message}`, { issues })

  const at = deps.edgeAt(found.is_secure)
  const name = found.host ?? `${project.slug}.localhost`
  // As a browser writes it in its Host header.
  const host = at.port === (at.is_secure ? 443 : 80) ? name : `${name}:${at.port}`
  const origin = `${at.is_secure ? 'https' : 'http'}://${host}`
  const verdict = deps.cache.inspect({ project_id: project.id, origin, target: found.target, headers })
  const answer = question.send === true ? await ask({ at, name, host, target: found.target, headers, signal, clock: deps.clock }) : null
  return { url: `${origin}${found.target}`, ...verdict, ...without, answer }
}

/** What holds for every address of a project whose answers do not come from an app. */
function withoutCache(tx: Tx, project: ProjectRow): Pick<CacheVerdict, 'verdict' | 'why' | 'stored'> | undefined {
  const current = listCurrent(tx, project.id).find((row) => row.target === 'production')
  if (!current || current.artifact === null || project.status === 'crashed')
    return { verdict: 'BYPASS', why: 'Nothing serves this project now: a visitor gets a page that says why.', stored: null }
  if ((JSON.parse(current.artifact) as Artifact).kind !== 'static') return undefined
  return { verdict: 'HIT', why: 'This is a static site: the edge serves its files itself, those of the deployment that is current.', stored: null }
}

const lowerCased = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** These say how a request is carried, and are not the asker's to choose. */
const carriers = new Set(
  'host connection content-length transfer-encoding te trailer upgrade expect keep-alive proxy-connection x-homeport-look'.split(' '),
)

function faultsOf(headers: Record<string, string>): Issue[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const message = !/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name)
      ? 'This is not the name of a header.'
      : carriers.has(name)
        ? 'This header cannot be chosen here.'
        : /[^\t\x20-\x7e\x80-\xff]/.test(value)
          ? 'A header has no control characters, and none past Latin-1.'
          : undefined
    return message === undefined ? [] : [{ path: `headers.${name.slice(0, 100)}`, message }]
  })
}

interface Asked {
  at: ReturnType<FeatureDeps['edgeAt']>
  name: string
  host: string
  target: string
  headers: Record<string, string>
  signal: AbortSignal
  clock: Clock
}

/** A real GET through the edge, read to its end; null when no head came in time. */
function ask({ at, name, host, target, headers, signal, clock }: Asked): Promise<CacheVerdict['answer']> {
  const began = performance.now()
  const request = at.is_secure ? requestSecurely : requestPlainly
  return new Promise((resolve) => {
    const patience = AbortSignal.any([signal, timeoutSignal(clock, readWithin.ms)])
    const asked = request(
      {
        host: at.host,
        port: at.port,
        path: target,
        agent: false,
        headers: { accept: '*/*', ...headers, host },
        signal: patience,
        // It is our own listener on this machine, whose authority need not be trusted here.
        ...(at.is_secure ? { servername: name, rejectUnauthorized: false } : {}),
      },
      (got) => {
        const ms = Math.round((performance.now() - began) * 10) / 10
        const pairs = got.rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [[name, got.rawHeaders[i + 1] ?? ''] satisfies [string, string]] : []))
        const textOf = (name: string) =>
          pairs
            .filter(([one]) => one.toLowerCase() === name)
            .map(([, value]) => value)
            .join(', ') || null
        const age = textOf('age')
        let bytes = 0
        got.on('data', (part: Buffer) => {
          bytes += part.length
          if (bytes > readWithin.bytes) got.destroy()
        })
        got.on('error', () => {})
        got.on('close', () =>
          resolve({
            status: got.statusCode ?? 0,
            x_cache: textOf('x-cache'),
            cache_status: textOf('cache-status'),
            age_s: age === null ? null : Number(age),
            ms,
            headers: pairs,
          }),
        )
      },
    )
    asked.on('error', () => resolve(null))
    asked.end()
  })
}
