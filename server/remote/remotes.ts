import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { allOperations, type OperationId } from '../contract/index.ts'
import type { EventStream, OperationSpec } from '../contract/operation.ts'
import { Problem } from '../contract/errors.ts'
import { type Clock, timeoutSignal } from '../lib/clock.ts'
import { maskToken } from './clean.ts'
import { createAsk, type Resolve } from './connect.ts'
import { readEvents } from './events.ts'
import { readOrigin } from './origin.ts'
import { checkHead, quoted, readBytes, readJson, readRefusal, typeOf, unreachable } from './reply.ts'

/** Another instance and the token that it is asked with. */
interface Target {
  id: string
  origin: string
  token: string
}

/** A call of an operation that is to be made there. Parameters and query are values, never a path. */
export interface Asking {
  operation: OperationId
  params: Record<string, string>
  query: URLSearchParams
  /** What the caller's own headers say, as far as the other side is told. */
  headers: { type?: string | undefined; length?: string | undefined; last_event_id?: string | undefined; idempotency_key?: string | undefined }
  body: Uint8Array | AsyncIterable<Uint8Array> | undefined
  signal: AbortSignal
}

/** What comes back: parsed and judged, ready to be told on. */
export interface Told {
  status: number
  headers: Record<string, string>
  body:
    | { kind: 'none' }
    | { kind: 'json'; value: unknown }
    | { kind: 'picture'; type: string; bytes: Uint8Array<ArrayBuffer> }
    | { kind: 'file'; type: string; length: string | undefined; chunks: AsyncIterable<Uint8Array> }
    | { kind: 'events'; events: EventStream }
}

export interface Remotes {
  /** Where an instance is, from what a person typed; throws `invalid_input`. */
  readOrigin(text: string): string
  /** Throws unless there is an API of ours, and it takes the token. */
  probe(target: Omit<Target, 'id'>): Promise<void>
  forward(target: Target, asking: Asking): Promise<Told>
  /** Ends what goes to and fro: the instance is no longer one of ours. */
  endAll(id: string): void
}

/** How long the other side may think, and be silent in the middle of what it says; of a stream comes a comment every 15 s. */
export interface Patience {
  probe_ms: number
  read_ms: number
  change_ms: number
  idle_ms: number
  stream_idle_ms: number
}
const usualPatience: Patience = { probe_ms: 15_000, read_ms: 30_000, change_ms: 180_000, idle_ms: 30_000, stream_idle_ms: 60_000 }
const pngStart = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

export function createRemotes(options: { isOwn: (url: URL) => boolean; clock: Clock; patience?: Patience; resolve?: Resolve }): Remotes {
  const { isOwn, clock, patience = usualPatience } = options
  const ask = createAsk(clock, options.resolve)
  const underWay = new Map<string, Set<AbortController>>()

  return {
    readOrigin: (text) => readOrigin(text, isOwn),

    async probe(target) {
      const signal = timeoutSignal(clock, 2 * patience.probe_ms)
      const answer = await ask(target.origin, {
        method: 'GET',
        path: '/v1/projects?limit=1',
        headers: headersFor('listProjects', target.token, {}),
        head_ms: patience.probe_ms,
        idle_ms: patience.probe_ms,
        signal,
      }).catch((error: unknown) => {
        throw error instanceof Problem ? error : unreachable(`${new URL(target.origin).host} did not answer in time.`)
      })
      const { body } = await read(answer, target, 'listProjects')
      if (body.kind !== 'json') throw unreachable(`${new URL(target.origin).host} answers otherwise than the API describes it.`)
    },

    async forward(target, asking) {
      const ending = new AbortController()
      const open = underWay.get(target.id) ?? new Set()
      underWay.set(target.id, open.add(ending))
      const over = () => {
        open.delete(ending)
        if (open.size === 0 && underWay.get(target.id) === open) underWay.delete(target.id)
      }
      const spec: OperationSpec = allOperations[asking.operation]
      const search = asking.query.size > 0 ? `?${asking.query}` : ''
      try {
        const answer = await ask(target.origin, {
          method: spec.method,
          path: spec.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(asking.params[name] ?? '')) + search,
          headers: headersFor(asking.operation, target.token, asking.headers),
          body: asking.body,
          head_ms: spec.method === 'GET' ? patience.read_ms : patience.change_ms,
          idle_ms: 'events' in spec.success ? patience.stream_idle_ms : patience.idle_ms,
          signal: AbortSignal.any([asking.signal, ending.signal]),
        })
        answer.once('close', over)
        return await read(answer, target, asking.operation)
      } catch (error) {
        over()
        throw error
      }
    },

    endAll(id) {
      const gone = new Problem('remote_not_found', 'This instance is no longer in the list.')
      for (const ending of underWay.get(id) ?? []) ending.abort(gone)
    },
  }
}

/** All that the other side is told in headers: nothing of the caller's own but what stands here. */
function headersFor(operation: OperationId, token: string, of: Asking['headers']): OutgoingHttpHeaders {
  const { success }: OperationSpec = allOperations[operation]
  const headers: OutgoingHttpHeaders = {
    authorization: `Bearer ${token}`,
    accept: 'events' in success ? 'text/event-stream' : 'content_type' in success ? `${success.content_type}, application/json` : 'application/json',
    'accept-encoding': 'identity',
  }
  if (of.type !== undefined) headers['content-type'] = of.type
  if (of.length !== undefined) headers['content-length'] = of.length
  if (of.last_event_id !== undefined) headers['last-event-id'] = of.last_event_id
  if (of.idempotency_key !== undefined) headers['idempotency-key'] = of.idempotency_key
  return headers
}

async function read(answer: IncomingMessage, { origin, token }: Omit<Target, 'id'>, operation: OperationId): Promise<Told> {
  const { host } = new URL(origin)
  const { success }: OperationSpec = allOperations[operation]
  const status = answer.statusCode ?? 0
  const headers = headersBack(answer)
  const wrongType = () =>
    unreachable(`${host} answers with ${quoted(typeOf(answer) || 'something without a type')} where the API has something else.`)
  try {
    checkHead(answer, origin)
    if (status >= 400) return { ...(await refusalOf(answer, { origin, token })), headers }
    if (status === 204 || !('json' in success || 'events' in success || 'content_type' in success)) {
      if ('json' in success || 'events' in success || 'content_type' in success)
        throw unreachable(`${host} answers with nothing where the API has something.`)
      answer.destroy()
      return { status: 204, headers, body: { kind: 'none' } }
    }
    if ('json' in success) return { status, headers, body: { kind: 'json', value: await readJson(answer, origin, success.json, token) } }
    if ('events' in success) {
      if (typeOf(answer) !== 'text/event-stream') throw wrongType()
      return { status: 200, headers, body: { kind: 'events', events: readEvents(answer, { ...success, token }) } }
    }
    if (typeOf(answer) !== success.content_type) throw wrongType()
    if (success.is_stream) {
      const length = answer.headers['content-length']
      return { status: 200, headers, body: { kind: 'file', type: success.content_type, length, chunks: answer } }
    }
    const bytes = new Uint8Array(await readBytes(answer, origin))
    if (success.content_type === 'image/png' && pngStart.compare(bytes, 0, pngStart.length) !== 0)
      throw unreachable(`${host} sent a picture that is none.`)
    return { status: 200, headers, body: { kind: 'picture', type: success.content_type, bytes } }
  } catch (error) {
    answer.destroy()
    // What it says is quoted in some of our sentences.
    throw error instanceof Problem ? new Problem(error.code, maskToken(error.message, token)) : error
  }
}

/** A 401 of the other side is none of ours: the caller is signed in here all the same. */
async function refusalOf(answer: IncomingMessage, { origin, token }: Omit<Target, 'id'>): Promise<Pick<Told, 'status' | 'body'>> {
  const { host } = new URL(origin)
  const status = answer.statusCode ?? 0
  const said = await readRefusal(answer, origin, token)
  if (status === 401)
    throw new Problem(
      'remote_token_refused',
      `${host} does not take the token: it was revoked there, or it has run out. Make a new one there and give it here.`,
    )
  if (said) return { status, body: { kind: 'json', value: said } }
  if (status === 404 || status === 405) throw new Problem('route_not_found', `${host} does not offer this.`)
  throw unreachable(`${host} answers with the status ${status} and no explanation. Something in front of it may be out of order; try again.`)
}

/** What is told on of the headers; the rest is made here. */
function headersBack(answer: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, pattern] of passing) {
    const value = answer.headers[name]
    if (typeof value === 'string' && pattern.test(value)) headers[name] = value
  }
  return headers
}

const number = /^\d{1,12}$/
const passing: [string, RegExp][] = [
  ['retry-after', number],
  ['x-ratelimit-limit', number],
  ['x-ratelimit-remaining', number],
  ['x-ratelimit-reset', number],
  ['x-request-id', /^[\w-]{1,100}$/],
  ['idempotency-replayed', /^true$/],
]
