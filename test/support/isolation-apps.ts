import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createSeededRandom, waitEventLoopTurns, type SeededRandom } from './seeded-random.ts'
import { startApp, type ListeningServer } from './edge.ts'
import type { Server } from 'node:http'

/** The first line of a body, which identifies its origin, so that a client can tell whether the response was meant for it. */
export interface ResponseOrigin {
  project: string
  host: string
  /** Which deployment of the app answered. */
  version: number
  target: string
  /** How the response differs from others for the same URL: a language, a user, nothing. */
  variant: string
  /** How often the content of the URL had been changed. */
  generation: number
}

/** A host name with its app. `target` begins with its kind. */
export interface IsolationApp {
  project: string
  host: string
  version: number
  app: ListeningServer<Server>
  generation(target: string): number
  change(target: string): number
}

/** Every body that any app has sent, by ETag, to verify ranges and HEAD responses. */
export const bodies = new Map<string, { origin: ResponseOrigin; body: Buffer }>()

const fillerRandom = createSeededRandom(1)
const fillers = Array.from({ length: 32 }, (_, index) => {
  const bytes = Buffer.from(Array.from({ length: index * index * 8 }, () => fillerRandom.between(0, 255)))
  return { bytes, hash: createHash('sha256').update(bytes).digest('hex') }
})

export async function startIsolationApp(
  seededRandom: SeededRandom,
  project: string,
  host: string,
  version: number,
  previous?: IsolationApp,
): Promise<IsolationApp> {
  const generations = new Map<string, number>()
  const generation = (target: string): number => generations.get(target) ?? previous?.generation(target) ?? 0
  const isolationApp: IsolationApp = {
    project,
    host,
    version,
    app: await startApp((req, answer) => void handleRequest(req, answer)),
    generation,
    change(target) {
      const next = generation(target) + 1
      generations.set(target, next)
      return next
    },
  }
  return isolationApp

  async function handleRequest(req: IncomingMessage, answer: ServerResponse): Promise<void> {
    const target = req.url ?? ''
    req.resume()
    if (req.method === 'POST') isolationApp.change(target)
    const kind = target.split('/')[1] ?? ''
    const variant = variantOf(kind, req.headers)
    const origin: ResponseOrigin = { project, host, version, target, variant, generation: generation(target) }
    const { etag, body } = createBody(origin)
    // Some responses are delayed, so that requests overlap during a miss, a purge or a swap.
    if (seededRandom.chance(0.2)) await waitEventLoopTurns(seededRandom.between(0, 30))
    answer.setHeader('ETag', etag)
    answer.setHeader('X-Seen-Host', String(req.headers['x-forwarded-host']))
    answer.setHeader('Surrogate-Key', `${kind} ${kind}-${Number(target.split('/')[2]) % 4}`)
    answer.setHeader('Accept-Ranges', 'bytes')
    for (const [name, value] of Object.entries(headersOf[kind] ?? {})) answer.setHeader(name, value)
    if (req.headers['if-none-match'] === etag) return void answer.writeHead(304).end()
    const range = /^bytes=(\d+)-(\d+)$/.exec(req.headers.range ?? '')
    if (range && req.method === 'GET' && Number(range[2]) < body.length) {
      const [from, to] = [Number(range[1]), Number(range[2])]
      answer.writeHead(206, { 'Content-Range': `bytes ${from}-${to}/${body.length}`, 'Content-Length': to - from + 1 })
      return void answer.end(body.subarray(from, to + 1))
    }
    if (seededRandom.chance(0.3)) answer.writeHead(200).end(body)
    else answer.writeHead(200, { 'Content-Length': body.length }).end(req.method === 'HEAD' ? undefined : body)
  }
}

const headersOf: Record<string, Record<string, string>> = {
  open: { 'Cache-Control': 'public, max-age=600' },
  vary: { 'Cache-Control': 'public, max-age=600', Vary: 'Accept-Language' },
  short: { 'Cache-Control': 'max-age=0, stale-while-revalidate=60' },
  private: { 'Cache-Control': 'private, max-age=600' },
  cookie: { 'Cache-Control': 'max-age=600', 'Set-Cookie': 'a=b' },
  auth: { 'Cache-Control': 'max-age=600' },
  none: { 'Cache-Control': 'no-store' },
}
export const cacheKinds = Object.keys(headersOf)

/** The variant that each client must receive. */
export function variantOf(kind: string, headers: { cookie?: string; authorization?: string; 'accept-language'?: string }): string {
  if (kind === 'vary') return headers['accept-language'] ?? ''
  if (kind === 'private' || kind === 'cookie') return headers.cookie ?? ''
  if (kind === 'auth') return headers.authorization ?? ''
  return ''
}

const bodyByOrigin = new Map<string, { etag: string; body: Buffer }>()

function createBody(origin: ResponseOrigin): { etag: string; body: Buffer } {
  const line = Object.values(origin).join('|')
  const known = bodyByOrigin.get(line)
  if (known) return known
  const etag = `"${createHash('sha256').update(line).digest('hex').slice(0, 24)}"`
  const filler = fillers[bodies.size % fillers.length]
  const body = Buffer.concat([Buffer.from(`${line}|${filler?.hash ?? ''}\n`), filler?.bytes ?? Buffer.alloc(0)])
  bodyByOrigin.set(line, { etag, body })
  bodies.set(etag, { origin, body })
  return { etag, body }
}

/** Parses a whole body; undefined if its bytes do not match its first line. */
export function readOrigin(body: Buffer): ResponseOrigin | undefined {
  const end = body.indexOf('\n')
  const [project, host, version, target, variant, generation, hash] = body.toString('utf8', 0, Math.max(end, 0)).split('|')
  if (
    createHash('sha256')
      .update(body.subarray(end + 1))
      .digest('hex') !== hash
  )
    return undefined
  return {
    project: project ?? '',
    host: host ?? '',
    version: Number(version),
    target: target ?? '',
    variant: variant ?? '',
    generation: Number(generation),
  }
}
