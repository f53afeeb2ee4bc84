import { z } from 'zod'
import { allOperations } from '../../server/contract/index.ts'
import type { OperationSpec } from '../../server/contract/operation.ts'
import type { Schema } from '../../server/http/openapi.ts'
import { createDice } from '../support/dice.ts'
import { createValues } from '../support/from-schema.ts'

/** A request as data, so that one that failed can be kept and sent again. */
export interface FuzzRequest {
  operation: string
  who: 'owner' | 'session' | 'member' | 'stranger' | 'nobody' | 'wrong'
  method: string
  /** `<dpl:3:id>` and `<dpl:3:slug>` stand for a resource that an answer named before, and its project. */
  path: string
  query: [string, string][]
  headers: Record<string, string>
  /** `archive` stands for the bytes of a small app. */
  body?: string
}

/** What changes the test's own access or the limits, and what looks at this whole machine, is left out. */
const leftOut = new Set(['updateSettings', 'signOut', 'doctor', 'setOwnerPassword', 'removeUser'])
export const fuzzed = (Object.entries(allOperations) as [string, OperationSpec][]).filter(([id]) => !leftOut.has(id))

/** What starts builds, servers or look-ups outside is asked more seldom: the platform would do nothing else. */
const weights: Record<string, number> = {
  deployProject: 0.1,
  uploadProject: 0.1,
  uploadCommit: 0.1,
  deployFolder: 0.1,
  retryDeployment: 0.1,
  rollbackDeployment: 0.1,
  createDatabase: 0.1,
  deleteDatabase: 0.1,
  importDatabase: 0.1,
  createBackup: 0.1,
  trustAuthority: 0.1,
  removeAuthority: 0.1,
  createEnvVars: 0.5,
  verifyDomain: 0.3,
  deleteProject: 0.3,
}

/** The kind of id that a path with {id} names. */
export function kindOf(path: string): string {
  const kinds = { 'env-vars': 'env', domains: 'dom', tokens: 'tok', remotes: 'rem', dumps: 'dmp', invitations: 'inv', members: 'usr' }
  return Object.entries(kinds).find(([part]) => path.includes(`/${part}/`))?.[1] ?? 'dpl'
}

const nasty = [
  '',
  '..',
  '%',
  '%zz',
  '%00',
  '\u0000',
  'a\r\nX-Evil: 1',
  "'; DROP TABLE projects; --",
  '${7*7}',
  '\ud800',
  '\u202e',
  '💥'.repeat(60),
  'x'.repeat(500),
  '---',
  '__proto__',
  'null',
  '999999999999999999999',
]

/** Requests made from the contract: most of them allowed, some out of order in one place, a few out of order everywhere. */
export function* generateRequests({ seed, repo_url }: { seed: number; repo_url: string }): Generator<FuzzRequest, never> {
  const dice = createDice(seed)
  const values = createValues({ dice, seed, schemas: {}, hints })
  const schemas = new Map(fuzzed.map(([id, { body, query }]) => [id, { body: body && schemaOf(body), query: schemaOf(query).properties ?? {} }]))
  const sum = fuzzed.reduce((all, [id]) => all + (weights[id] ?? 1), 0)
  const slugs = ['one', 'two']

  for (let count = 1; ; count++) yield next(count)

  function hints(name: string): unknown[] | undefined {
    const label = `fuzz-${slugs.length}`
    if (name === 'slug') return [label, slugs.at(-1)]
    if (name === 'repo_url') return [repo_url, null]
    if (name === 'hostname') return [`${label}.example.com`, `${label}.test`]
    if (name === 'repo_branch' || name === 'branch') return ['main']
    if (name === 'path') return ['/nowhere', '/etc/passwd', '.']
    if (name === 'origin') return ['http://127.0.0.1:9', 'https://localhost']
    if (name === 'email') return [`${label}@example.com`, 'member@example.com']
    return undefined
  }

  function next(count: number): FuzzRequest {
    let point = (dice.between(0, 999_999) / 1_000_000) * sum
    const [operation, spec] = fuzzed.find(([id]) => (point -= weights[id] ?? 1) < 0) ?? fuzzed[0]!
    const isWild = dice.chance(0.1)
    const who = dice.chance(0.75) ? 'owner' : dice.pick(['session', 'member', 'member', 'stranger', 'nobody', 'wrong'] as const)
    const method = isWild && dice.chance(0.2) ? dice.pick(['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS']) : spec.method
    const headers: Record<string, string> = {}
    if (method === 'POST' && dice.chance(0.1)) headers['idempotency-key'] = dice.pick(['a', 'b', `key-${count}`, 'Ã©', 'x'.repeat(300)])
    const query = Object.entries(schemas.get(operation)?.query ?? {}).flatMap(([name, schema]): [string, string][] => {
      if (spec.query.shape[name]?.safeParse(undefined).success && dice.chance(0.7)) return []
      return [[name, text(dice.chance(isWild ? 0.2 : 0.9) ? values.valid(schema, name) : values.strange())]]
    })
    if (isWild) query.push([dice.pick(['limit', 'cursor', 'x', '__proto__']), dice.pick(nasty).toWellFormed()])
    return { operation, who, method, path: pathOf(spec, isWild), query, headers, ...bodyOf(operation, spec, headers, isWild) }
  }

  function pathOf({ path, group }: OperationSpec, isWild: boolean): string {
    const of = `<${kindOf(path)}:${dice.between(0, 19)}`
    const fill = (name: string): string => {
      if (isWild && dice.chance(0.5)) return encodeURIComponent(dice.pick(nasty).toWellFormed())
      if (name === 'id') return dice.chance(0.95) ? `${of}:id>` : `dpl_${'0'.repeat(26)}`
      if (name === 'slug' && path.includes('{id}')) return `${of}:slug>`
      if (name === 'slug') return dice.chance(0.95) ? dice.pick(slugs.slice(-20)) : 'nowhere'
      if (name === 'variant') return dice.pick(['desktop', 'mobile', 'other'])
      return encodeURIComponent(name === 'email' ? 'member@example.com' : 'nothing')
    }
    const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) => fill(name))
    return group !== 'Instance' && dice.chance(0.15) ? filled.replace(/^\/v1/, '') : filled
  }

  function bodyOf(operation: string, spec: OperationSpec, headers: Record<string, string>, isWild: boolean): { body?: string } {
    const schema = schemas.get(operation)?.body
    if (spec.upload) {
      headers['content-type'] = dice.pick([...spec.upload.types, 'application/json'])
      return { body: dice.chance(0.7) ? 'archive' : 'no archive' }
    }
    if (!schema) return {}
    headers['content-type'] = dice.chance(0.97)
      ? 'application/json'
      : dice.pick(['text/plain', 'application/json; charset=utf-16', 'multipart/form-data'])
    if (dice.chance(0.02)) return { body: '{"half' }
    const good = values.valid(schema)
    if (operation === 'createProject') slugs.push(text((good as { slug?: unknown }).slug))
    if (!isWild) return { body: JSON.stringify(dice.chance(0.85) ? good : values.broken(good)) }
    const fields = Object.keys(typeof good === 'object' && good !== null ? good : {}).map((name) => [
      name,
      dice.pick<unknown>([dice.pick(nasty), values.strange()]),
    ])
    return { body: JSON.stringify(dice.chance(0.8) ? Object.fromEntries(fields) : values.strange()) }
  }
}

const schemaOf = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema

/** As it goes into an address. */
const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed().slice(0, 500)
