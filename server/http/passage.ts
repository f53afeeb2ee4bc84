import type { IncomingMessage, ServerResponse } from 'node:http'
import { allOperations } from '../contract/index.ts'
import type { OperationId } from '../contract/index.ts'
import type { OperationSpec } from '../contract/operation.ts'
import { Problem } from '../contract/errors.ts'
import type { Context } from '../features/context.ts'
import type { Passage, Told } from '../features/remotes.ts'
import type { Clock } from '../lib/clock.ts'
import { parseQuery } from './parse.ts'
import { file, json, nothing, text } from './respond.ts'
import type { Answer } from './respond.ts'
import type { Found, Routes } from './routes.ts'
import { streamHeaders } from './sse.ts'
import type { StreamAccess, Streams } from './sse.ts'
import { headerValues } from './transport.ts'
import { letGo, openBody } from './upload.ts'

/** An operation of another instance: `/remote/{id}` and its path in the record. */
export interface PassageTarget {
  kind: 'passage'
  remote: string
  operation: OperationId
}

/** What the other side sends is served from our own origin: whatever it is, it is never a page, and nothing in it runs. */
const locked = {
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}

/** Below `/remote/{id}` there is what the record has at its own path, by its own method, and nothing else. */
export function findPassage(
  routes: Routes<{ kind: 'operation'; id: OperationId; is_alias: boolean } | { kind: 'door' }>,
  method: string,
  pathname: string,
): Found<PassageTarget> | undefined {
  if (!pathname.startsWith('/remote/')) return undefined
  const [, remote = '', path = ''] = /^\/remote\/([^/]+)(\/.*)$/.exec(pathname) ?? []
  const inner = method === 'HEAD' ? undefined : routes.find(method, path).match
  if (inner?.target.kind !== 'operation' || inner.target.is_alias) return { match: undefined, at: undefined, allow: [] }
  const target: PassageTarget = { kind: 'passage', remote, operation: inner.target.id }
  return { match: { target, params: inner.params }, at: target, allow: [] }
}

/** A request on its way to another instance. */
interface Passing {
  target: PassageTarget
  params: Record<string, string>
  query: string
  body: Buffer
  context: Context
  access: StreamAccess
  onEnd(): void
}

export type Pass = (req: IncomingMessage, res: ServerResponse, asked: Passing) => Promise<Answer>

/** Sends a request on, and its answer back. */
export function createPassing({ passage, streams, clock }: { passage: Passage; streams: Streams; clock: Clock }): Pass {
  return async function pass(req, res, asked) {
    const { context, target } = asked
    const spec: OperationSpec = allOperations[target.operation]
    parseQuery(spec.query, asked.query)
    const query = new URLSearchParams([...new URLSearchParams(asked.query)].filter(([name]) => Object.hasOwn(spec.query.shape, name)))
    const type = req.headers['content-type']
    const hasJson = spec.body !== undefined && asked.body.length > 0
    const told = await passage(context, target.remote, {
      operation: target.operation,
      params: asked.params,
      query,
      headers: {
        type: spec.upload ? type : hasJson ? 'application/json' : undefined,
        length: spec.upload ? req.headers['content-length'] : undefined,
        last_event_id: headerValues(req, 'last-event-id')[0],
        idempotency_key: req.method === 'POST' ? headerValues(req, 'idempotency-key')[0] : undefined,
      },
      body: spec.upload ? openBody(req, res, clock, spec.upload) : hasJson ? asked.body : undefined,
      signal: context.signal,
    }).catch((error: unknown) => {
      // Nobody is there to be told; it is no failure of ours.
      throw context.signal.aborted && !(error instanceof Problem) ? new Problem('bad_request', 'The client is gone.') : error
    })
    const answer = answerOf(told, spec, { access: asked.access, request_id: context.request_id, onEnd: asked.onEnd })
    // It may have been refused there before all of it was sent.
    const closing: Record<string, string> = spec.upload && (await letGo(req, res, clock)).close ? { connection: 'close' } : {}
    return { ...answer, headers: { ...answer.headers, ...told.headers, ...locked, ...closing } }
  }

  function answerOf(
    { status, body }: Told,
    { success }: OperationSpec,
    owner: { access: StreamAccess; request_id: string; onEnd: () => void },
  ): Answer {
    switch (body.kind) {
      case 'json':
        return json(status, body.value)
      case 'none':
        return nothing()
      case 'picture':
        return text(200, body.type, body.bytes, 'max_age_s' in success ? { 'cache-control': `private, max-age=${success.max_age_s}` } : {})
      case 'file': {
        const answer = file(body.type, streams.file(body.chunks, owner.access))
        const length: Record<string, string> = body.length === undefined ? {} : { 'content-length': body.length }
        return { ...answer, headers: { ...answer.headers, ...length, 'content-disposition': 'attachment' } }
      }
      case 'events':
        return { status: 200, headers: { ...streamHeaders }, body: streams.body(body.events, owner) }
    }
  }
}
