import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { errorStatus } from '../../server/contract/errors.ts'
import { allOperations } from '../../server/contract/index.ts'
import type { OperationSpec } from '../../server/contract/operation.ts'
import { deployed, startWorld } from './world.ts'
import type { World } from './world.ts'

/*
 * Requests that know the shape of the contract and fill it with what nobody expects, over the whole platform. HOMEPORT_FUZZ_RUNS
 * makes it longer.
 */

let world: World
let deployment: string

beforeAll(async () => {
  world = await startWorld()
  deployment = (await deployed(world, 'target')).id
  await world.home.ended('target', deployment)
})
afterAll(() => world.close())

/** Those left out would end the test's own sign-in or limits, or wait for ever. */
const left = new Set(['updateSettings', 'signOut', 'doctor'])
const operations = (Object.entries(allOperations) as [string, OperationSpec][]).filter(([id, spec]) => !left.has(id) && !('events' in spec.success))

const nasty = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 10 }),
  fc.constantFrom(
    'target',
    '',
    '..',
    '%',
    '%zz',
    '\u0000',
    'a\r\nX-Evil: 1',
    "'; DROP TABLE projects; --",
    '${7*7}',
    '\ud800',
    '💥'.repeat(60),
    'x'.repeat(5000),
    '-'.repeat(3),
    '__proto__',
    'null',
  ),
)
const value = fc.oneof(
  nasty,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(
    'https://u:p@git.example/a.git',
    'https://%zz@h/x',
    'ssh://git@h:99999/x',
    'https://[::1]/x',
    'file://evil/x',
    'git://-x/y',
    'https://h',
    'http://2130706433/x',
    'https://h/\ud800',
  ),
)

/** A body with the fields of the operation, some missing, some strange. */
function bodyOf(spec: OperationSpec) {
  const shape = spec.body && 'shape' in spec.body ? Object.keys(spec.body.shape as object) : []
  const known = shape.length > 0 ? fc.dictionary(fc.constantFrom(...shape), value, { maxKeys: shape.length }) : fc.constant({})
  return fc.oneof({ arbitrary: known, weight: 6 }, { arbitrary: fc.dictionary(nasty, value), weight: 1 }, { arbitrary: fc.jsonValue(), weight: 1 })
}

const request = fc.constantFrom(...operations).chain(([id, spec]) =>
  fc.record({
    id: fc.constant(id),
    spec: fc.constant(spec),
    slug: fc.oneof(fc.constantFrom('target', 'none'), nasty),
    child: fc.oneof(fc.constant('DEPLOYMENT'), nasty),
    query: fc.dictionary(fc.constantFrom('limit', 'cursor', 'lines', 'format', 'target', 'branch', 'status', 'x'), nasty, { maxKeys: 3 }),
    body: bodyOf(spec),
    who: fc.constantFrom('owner' as const, 'member' as const, 'stranger' as const, 'nobody' as const),
  }),
)

const encoded = (text: string) => encodeURIComponent(text.toWellFormed().replaceAll('DEPLOYMENT', deployment))

describe('whatever is asked of the platform', () => {
  test('it answers by the contract, and never with a 500', async () => {
    const ids = new Set<string>()
    let asked = 0
    await fc.assert(
      fc.asyncProperty(request, async ({ spec, slug, child, query, body, who }) => {
        // The target stays: taking it away, or piling up deployments of it, would leave little to ask about.
        const name = ['DELETE', 'POST'].includes(spec.method) && slug === 'target' ? 'none' : slug
        const path = spec.path.replace('{slug}', encoded(name)).replace('{id}', encoded(child)).replace('{email}', encoded(child))
        const search = new URLSearchParams(Object.entries(query).map(([key, text]): [string, string] => [key, text.toWellFormed()]))
        const answer = await world.ask(who, spec.method, `${path}?${search}`, spec.method === 'GET' ? undefined : body)
        asked++
        ids.add(answer.headers.get('x-request-id') ?? '')
        expect({ status: answer.status === 500 ? world.home.log.at(-1) : 0 }).toEqual({ status: 0 })
        expect(answer.headers.get('x-ratelimit-limit')).toMatch(/^\d+$/)
        expect(answer.headers.get('x-evil')).toBeNull()
        if (answer.status < 400) return
        const code = answer.body.error as keyof typeof errorStatus
        expect(errorStatus[code]).toBe(answer.status)
        expect(answer.body.request_id).toBe(answer.headers.get('x-request-id'))
        // A step upwards is taken before it is sent: it asks something else than this operation.
        if ([slug, child].some((one) => one === '..' || one === '.')) return
        // What is announced for the operation, or what any request may meet.
        const general = ['unauthorized', 'forbidden', 'route_not_found', 'invalid_input', 'invalid_json', 'uri_too_long', 'payload_too_large']
        expect([...spec.errors, ...general]).toContain(code)
      }),
      { numRuns: Number(process.env.HOMEPORT_FUZZ_RUNS ?? 800), seed: Number(process.env.HOMEPORT_FUZZ_SEED ?? 20_261_121) },
    )
    expect(ids.size).toBe(asked)
    expect((await world.home.project('target')).slug).toBe('target')
  }, 600_000)
})
