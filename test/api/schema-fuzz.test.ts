import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OpenApiDocument, Operation, Schema } from '../../server/http/openapi.ts'
import { tgzOf } from '../support/archives.ts'
import { type Description, readDescription } from '../support/described.ts'
import { createDice } from '../support/dice.ts'
import { createValues } from '../support/from-schema.ts'
import { newFolder, type RunningInstance, serve } from '../support/instance-process.ts'
import { makeRepository, tinyServer } from '../support/repository.ts'

/*
 * A client that has read /openapi.json and nothing else, and asks whatever it allows, and a little more, of a platform in a process
 * of its own. The dice are the same each time, so that CI is; HOMEPORT_FUZZ_SEED throws others.
 */

const seed = Number(process.env.HOMEPORT_FUZZ_SEED ?? 20_261_121)
const total = Number(process.env.HOMEPORT_FUZZ_REQUESTS ?? 20_000)
const lanes = 6

/** What starts builds, servers or look-ups outside is asked more seldom: the platform would do nothing else. */
const weights: Record<string, number> = {
  deployProject: 0.1,
  uploadProject: 0.1,
  retryDeployment: 0.1,
  rollbackDeployment: 0.1,
  createDatabase: 0.2,
  deleteDatabase: 0.1,
  createEnvVars: 0.5,
  verifyDomain: 0.3,
  deleteProject: 0.3,
}

const repository = makeRepository(tinyServer('fuzz'))
const data = newFolder('schema-fuzz')
let home: RunningInstance
let document: OpenApiDocument
let description: Description
let operations: { method: string; path: string; operation: Operation; weight: number }[]
const tokens: Record<string, string | null> = { nobody: null, wrong: 'svc_wrong' }

beforeAll(async () => {
  home = await serve({ data: data.path })
  const settings = { rate_limit_authenticated: 1_000_000, rate_limit_anonymous: 1_000_000, keep_deployments: 2, dns_resolvers: ['127.0.0.1:9'] }
  expect((await send('PATCH', '/instance/settings', settings)).status).toBe(200)
  tokens.owner = home.instance.token
  for (const who of ['member', 'stranger']) {
    const { token } = (await (await send('POST', '/instance/users', { email: `${who}@example.com` })).json()) as { token: string }
    tokens[who] = token
  }
  const { user } = (await (await home.ask('/instance/session')).json()) as { user: { email: string } }
  expect((await send('POST', '/instance/team', { owner_email: user.email, member_email: 'member@example.com' })).status).toBeLessThan(300)
  document = (await (await home.ask('/openapi.json')).json()) as OpenApiDocument
  description = readDescription(document)
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
      weight: weights[operation.operationId] ?? 1,
    })),
  )
}, 120_000)
afterAll(async () => {
  await home.end()
  data.remove()
  repository.remove()
}, 120_000)

const send = (method: string, path: string, body: unknown) =>
  home.ask(path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

const archive = tgzOf(Object.entries(tinyServer('upload')).map(([name, text]) => ({ name, data: text })))

interface Named {
  slug: string
  id: string
}
/** Projects, and what is of them, as they came back in answers, newest last: what a client would go on with. */
const known = { slug: ['one', 'two'], dpl: [] as Named[], env: [] as Named[], dom: [] as Named[], tok: [] as Named[] }

function learn(text: string, slug: string): void {
  for (const [, found = ''] of text.matchAll(/"slug":"([^"]+)"/g)) keep(known.slug, found, (one) => one === found)
  for (const [id = '', kind] of text.matchAll(/\b(dpl|env|dom|tok)_[0-9a-z]{26}\b/g))
    keep(known[kind as 'dpl' | 'env' | 'dom' | 'tok'], { slug, id }, (one) => one.id === id)
}
function keep<One>(list: One[], one: One, isSame: (other: One) => boolean): void {
  if (!list.some(isSame)) list.push(one)
  if (list.length > 20) list.shift()
}
/** What was deleted is asked for no more, but by those who like 404. */
function forget({ slug, id }: Named, path: string): void {
  if (path.endsWith('{slug}')) {
    known.slug = known.slug.filter((one) => one !== slug)
    for (const kind of ['dpl', 'env', 'dom'] as const) known[kind] = known[kind].filter((one) => one.slug !== slug)
  }
  for (const kind of ['env', 'dom', 'tok'] as const) known[kind] = known[kind].filter((one) => one.id !== id)
}

const outcomes = new Map<string, number>()
const seen = new Map<string, Set<number>>()
const failures: unknown[] = []
const took = new Map<string, { count: number; ms: number }>()

async function ask(lane: number, count: number): Promise<void> {
  const dice = createDice(seed + lane)
  const values = createValues({ dice, seed, schemas: document.components.schemas, hints })
  const sum = operations.reduce((all, { weight }) => all + weight, 0)
  let asked = 0

  function hints(name: string): unknown[] | undefined {
    const label = `fuzz-${lane}-${asked}`
    if (name === 'slug') return [label, label, ...known.slug.slice(-1)]
    if (name === 'repo_url') return [repository.url, null]
    if (name === 'hostname') return [`${label}.example.com`, `${label}.test`]
    if (name === 'repo_branch') return ['main']
    return undefined
  }
  function pick() {
    let point = (dice.between(0, 999_999) / 1_000_000) * sum
    return operations.find(({ weight }) => (point -= weight) < 0) ?? operations[0]
  }
  /** A project, and something of it where the path names one. */
  function named(path: string, { tags }: Operation): Named {
    const kind = path.includes('/env-vars/') ? 'env' : tags[0] === 'Domains' ? 'dom' : tags[0] === 'API tokens' ? 'tok' : 'dpl'
    const slug = known.slug.length > 0 && dice.chance(0.95) ? dice.pick(known.slug) : 'nowhere'
    const nothing = { slug, id: `${kind}_${'0'.repeat(26)}` }
    return path.includes('{id}') && known[kind].length > 0 && dice.chance(0.95) ? dice.pick(known[kind]) : nothing
  }
  function parameter(name: string, schema: Schema, of: Named): string {
    if (dice.chance(0.03)) return String(values.strange())
    if (name === 'slug' || name === 'id') return of[name]
    return name === 'variant' ? dice.pick(['desktop', 'mobile', 'other']) : String(values.valid(schema, name))
  }

  for (; asked < count; asked++) {
    const chosen = pick()
    if (!chosen) return
    const { method, path, operation } = chosen
    const who = dice.chance(0.75) ? 'owner' : dice.pick(['member', 'member', 'stranger', 'nobody', 'wrong'])
    const search = new URLSearchParams()
    const of = named(path, operation)
    let place = dice.chance(0.15) ? path.replace(/^\/v1/, '') : path
    for (const { name, in: where, schema, required } of operation.parameters ?? []) {
      if (where === 'path') place = place.replace(`{${name}}`, encodeURIComponent(parameter(name, schema, of).toWellFormed().slice(0, 500)))
      else if (where === 'query' && (required || dice.chance(0.3)))
        search.append(
          name,
          String(dice.chance(0.85) ? values.valid(schema, name) : values.strange())
            .toWellFormed()
            .slice(0, 500),
        )
    }
    const headers: Record<string, string> = {}
    const token = tokens[who]
    if (token) headers.authorization = `Bearer ${token}`
    if (method === 'POST' && dice.chance(0.1)) headers['idempotency-key'] = dice.pick(['a', 'b', `key-${asked}`, 'é', 'x'.repeat(300)])
    const leave = new AbortController()
    const init: RequestInit = { method, headers, signal: leave.signal }
    const body = operation.requestBody?.content
    if (body?.['application/json']) {
      const good = values.valid(body['application/json'].schema)
      headers['content-type'] = dice.chance(0.97) ? 'application/json' : 'text/plain'
      init.body = dice.chance(0.02) ? '{"half' : JSON.stringify(dice.chance(0.8) ? good : values.broken(good))
    } else if (body) {
      headers['content-type'] = dice.pick(['application/gzip', 'application/zip', 'application/json'])
      init.body = dice.chance(0.7) ? new Uint8Array(archive) : 'no archive'
    }
    // A header that fetch refuses never leaves the client.
    if (headers['idempotency-key'] === 'é') headers['idempotency-key'] = 'Ã©'
    await judge(chosen, `${place}?${search}`, init, { who, of, leave })
  }
}

async function judge(
  { method, path, operation }: (typeof operations)[number],
  target: string,
  init: RequestInit,
  { who, of, leave }: { who: string; of: Named; leave: AbortController },
) {
  const begun = performance.now()
  const answer = await fetch(home.instance.api_url + target, init)
  const type = answer.headers.get('content-type')
  const text = type?.startsWith('text/event-stream') ? '' : await answer.text()
  leave.abort()
  outcomes.set(String(answer.status), (outcomes.get(String(answer.status)) ?? 0) + 1)
  const statuses = seen.get(operation.operationId) ?? new Set()
  seen.set(operation.operationId, statuses.add(answer.status))
  const wrong = answer.status === 500 ? ['a 500'] : description.wrong({ method, path }, { status: answer.status, type, text })
  if (answer.status >= 400 && wrong.length === 0) {
    const { error } = JSON.parse(text) as { error: string }
    const said = operation.responses[String(answer.status)]?.description ?? ''
    if (!said.includes(`\`${error}\``) && error !== 'route_not_found') wrong.push(`${error} is not named`)
  }
  if (!answer.headers.get('x-request-id')?.startsWith('req_')) wrong.push('no request id')
  if (wrong.length > 0)
    failures.push({
      operation: operation.operationId,
      who,
      target,
      body: String(init.body).slice(0, 300),
      status: answer.status,
      text: text.slice(0, 300),
      wrong,
    })
  // A member's own projects are nobody else's; and who lists tokens finds the one that they came with.
  if (answer.status < 300 && who === 'owner' && operation.operationId !== 'listTokens') learn(text, of.slug)
  if (answer.status === 204) forget(of, path)
  const spent = took.get(operation.operationId) ?? { count: 0, ms: 0 }
  took.set(operation.operationId, { count: spent.count + 1, ms: spent.ms + performance.now() - begun })
}

test(`${total} requests that the description allows, and some that it does not`, { timeout: 900_000 }, async () => {
  console.log(`seed ${seed} (HOMEPORT_FUZZ_SEED), ${total} requests`)
  for (const slug of known.slug) expect((await send('POST', '/v1/projects', { name: slug, slug, repo_url: repository.url })).status).toBe(201)
  await Promise.all(Array.from({ length: lanes }, (_, lane) => ask(lane, Math.ceil(total / lanes))))
  console.log(JSON.stringify(Object.fromEntries([...outcomes].toSorted(([a], [b]) => Number(a) - Number(b)))))
  console.log(
    JSON.stringify(
      [...took]
        .map(([id, { count, ms }]) => [id, count, Math.round(ms)])
        .toSorted((a, b) => Number(b[2]) - Number(a[2]))
        .slice(0, 14),
    ),
  )
  const different = new Map(
    failures.map((one) => [JSON.stringify([(one as { operation: string }).operation, (one as { wrong: unknown }).wrong]), one]),
  )
  expect([...different.values()]).toEqual([])
  expect([...outcomes.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(total)
  // Dice that never got anything done would show little.
  const succeeded = [...seen].filter(([, statuses]) => [...statuses].some((status) => status < 300))
  if (total >= 3000) expect(succeeded.length).toBeGreaterThan(operations.length * 0.8)
  expect((await home.ask('/healthz')).status).toBe(200)
})
