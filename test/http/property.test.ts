import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorStatus } from '../../server/contract/errors.ts'
import { allOperations } from '../../server/contract/index.ts'
import type { OperationSpec } from '../../server/contract/operation.ts'
import { frame } from '../../server/http/sse.ts'
import { bearer, cookieName, sampleProject, startDouble } from './double.ts'
import type { Double } from './double.ts'
import { sendRaw } from './raw.ts'

let double: Double
beforeAll(async () => {
  double = await startDouble()
})
afterAll(() => double.close())

const operations: OperationSpec[] = Object.values(allOperations)
const anyJson = fc.jsonValue({ maxDepth: 3 })
const fields = fc.constantFrom(
  'name',
  'slug',
  'repo_url',
  'repo_branch',
  'memory_limit_mb',
  'always_warm',
  'path',
  'email',
  '__proto__',
  'plan',
  'owner_email',
)
const odd = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('abc', '..', '%00', '%2f', "' or 1=1 --", '\u202e', '💥'),
)

const anyRequest = fc.record({
  spec: fc.constantFrom(...operations),
  method: fc.option(fc.constantFrom('GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS')),
  parameter: odd,
  query: fc.dictionary(fc.constantFrom('limit', 'cursor', 'lines', 'target', 'x', '__proto__'), odd),
  body: fc.option(
    fc.oneof(
      anyJson.map((value) => JSON.stringify(value)),
      fc.dictionary(fields, anyJson).map((value) => JSON.stringify(value)),
      fc.string(),
    ),
  ),
  type: fc.constantFrom('application/json', 'text/plain', 'application/json; charset=utf-8', 'multipart/form-data'),
  who: fc.constantFrom('owner', 'stranger', 'session', 'nobody', 'wrong'),
  alias: fc.boolean(),
})

function credentials(who: string): Record<string, string> {
  if (who === 'owner') return bearer(double.owner.token)
  if (who === 'stranger') return bearer(double.stranger.token)
  if (who === 'session') return { cookie: `${cookieName}=${double.owner.session}`, origin: double.url }
  return who === 'wrong' ? bearer('svc_wrong') : {}
}

describe('whatever is asked', () => {
  it('the answer is never a 500, has its own id and the rate headers, and a refusal is the envelope', async () => {
    const ids = new Set<string>()
    let asked = 0
    await fc.assert(
      fc.asyncProperty(anyRequest, async ({ spec, method, parameter, query, body, type, who, alias }) => {
        double.projects.clear()
        double.projects.set('abc', { ...sampleProject('abc'), account_id: double.owner.caller.account_id })
        const path = (alias ? spec.path.replace(/^\/v1/, '') : spec.path).replace(/\{\w+\}/g, () => encodeURIComponent(parameter.toWellFormed()))
        const search = new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, value.toWellFormed()]))
        const verb = method ?? spec.method
        const answer = await double.fetch(`${path}?${search}`, {
          method: verb,
          headers: { ...credentials(who), 'content-type': type },
          body: verb === 'GET' || verb === 'HEAD' ? null : body,
        })
        const text = await answer.text()
        asked++
        expect(answer.status).not.toBe(500)
        const id = answer.headers.get('x-request-id') ?? ''
        expect(id).toMatch(/^req_[0-9a-z]{26}$/)
        ids.add(id)
        for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']) expect(answer.headers.get(name)).toMatch(/^\d+$/)
        if (answer.status < 400 || verb === 'HEAD') return
        const envelope = JSON.parse(text) as { error: keyof typeof errorStatus; message: string; request_id: string; issues?: unknown[] }
        expect(errorStatus[envelope.error]).toBe(answer.status)
        expect(envelope.request_id).toBe(id)
        expect(envelope.message.length).toBeGreaterThan(0)
        expect(envelope.error === 'invalid_input').toBe(envelope.issues !== undefined)
      }),
      { numRuns: 1500 },
    )
    expect(ids.size).toBe(asked)
  }, 60_000)

  it('bytes that are no request get an envelope or nothing, and the next request its own answer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (bytes) => {
        const answer = await sendRaw(double.port, Buffer.concat([Buffer.from('GET '), bytes, Buffer.from('\r\n\r\n')]), { half_close: true })
        expect(answer.status).not.toBe(500)
        if (answer.status !== 0) expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
        expect((await double.fetch('/healthz')).status).toBe(200)
      }),
      { numRuns: 200 },
    )
  }, 60_000)
})

describe('a frame', () => {
  it('gives back its text, whatever is in it, and is one event', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '\r', '\n', ':', ' ', 'data: ', 'event: x', 'id: 1', '\0', 'é') }), (data) => {
        const blocks = frame({ event: 'log', data }).split('\n\n')
        expect(blocks).toHaveLength(2)
        const [head, ...lines] = (blocks[0] ?? '').split('\n')
        expect(head).toBe('event: log')
        expect(lines.every((line) => line.startsWith('data: '))).toBe(true)
        expect(lines.map((line) => line.slice(6)).join('\n')).toBe(data.replace(/\r\n|\r/g, '\n'))
      }),
    )
  })
})
