import { z } from 'zod'
import { allOperations } from '../../server/contract/index.ts'
import type { OperationSpec } from '../../server/contract/operation.ts'
import type { JsonSchema } from '../../server/api/openapi/types.ts'
import { createSeededRandom } from '../support/seeded-random.ts'
import { createSchemaValues } from '../support/schema-values.ts'

/** A request as data, so that a failed one can be stored and replayed. */
export interface FuzzRequest {
  operation: string
  who: 'owner' | 'session' | 'member' | 'stranger' | 'anonymous' | 'wrong'
  method: string
  /** `<dpl:3:id>` and `<dpl:3:slug>` stand for a resource from an earlier response, and its project, `<prj:3:slug>` for a project. */
  path: string
  query: [string, string][]
  headers: Record<string, string>
  /** `archive` stands for the bytes of a small app; resources as in the path. */
  body?: string
}

/** Excluded: operations that change the test's own access or the limits, and those that scan this whole machine. */
const excludedOperations = new Set(['updateSettings', 'signOut', 'doctor', 'setOwnerPassword', 'removeUser'])
export const fuzzed = (Object.entries(allOperations) as [string, OperationSpec][]).filter(([id]) => !excludedOperations.has(id))

/** These cannot succeed here: they need what no generated request creates. */
const impossibleOperations = new Set(
  [
    'updateNode removeNode createJoinToken balanceNodes', // A cluster.
    'createSetupIntent confirmBilling cancelBilling', // Stripe.
    'getMailMessage downloadMailMessage downloadMailAttachment getTrace getTraceSpan getCapturedRequest replayRequest', // An app that sends them.
  ].flatMap((ids) => ids.split(' ')),
)
export const possibleOperations = fuzzed.map(([id]) => id).filter((id) => !impossibleOperations.has(id))

/** Operations that start builds, servers or external lookups are rarer, because they would take all the time. */
const weights: Record<string, number> = {
  deployProject: 0.2,
  uploadProject: 0.1,
  uploadCommit: 0.1,
  deployFolder: 0.2,
  retryDeployment: 0.1,
  rollbackDeployment: 0.1,
  deleteDatabase: 0.1,
  createBackup: 0.1,
  addVolume: 0.1,
  restoreVolume: 0.3,
  uploadVolume: 0.1,
  restartService: 0.3,
  trustAuthority: 0.1,
  removeAuthority: 0.1,
  createEnvVars: 0.5,
  verifyDomain: 0.3,
  deleteProject: 0.2,
}

/** The kind of id that a path with {id} names. */
export function kindOf(path: string): string {
  const kinds = {
    'env-vars': 'env',
    domains: 'dom',
    tokens: 'tok',
    remotes: 'rem',
    dumps: 'dmp',
    snapshots: 'snp',
    invitations: 'inv',
    members: 'usr',
    mail: 'msg',
    dev: 'dev',
    targets: 'ntt',
    deliveries: 'ntf',
    'deploy-hooks': 'dhk',
    'log-drains': 'drn',
    backups: 'backup',
    requests: 'req',
  }
  return Object.entries(kinds).find(([part]) => path.includes(`/${part}/`))?.[1] ?? 'dpl'
}

const registryHost = 'registry.example.com'

const hostileTexts = [
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

export interface FuzzWorld {
  seed: number
  repository: { url: string; folder: string }
  /** The email address of the instance's owner. */
  owner: string
}

/** Requests generated from the contract: most valid, some invalid in one place, a few invalid everywhere. */
export function* generateRequests({ seed, repository, owner }: FuzzWorld): Generator<FuzzRequest, never> {
  const seededRandom = createSeededRandom(seed)
  const values = createSchemaValues({ random: seededRandom, seed, schemas: {}, hints })
  const schemas = new Map(fuzzed.map(([id, { body, query }]) => [id, { body: body && schemaOf(body), query: schemaOf(query).properties ?? {} }]))
  const sum = fuzzed.reduce((all, [id]) => all + (weights[id] ?? 1), 0)
  const slugs = ['one', 'two']

  for (let count = 1; ; count++) yield next(count)

  function hints(name: string): unknown[] | undefined {
    const label = `fuzz-${slugs.length}`
    if (name === 'slug') return [label, slugs.at(-1)]
    if (name === 'repo_url') return [repository.url, null]
    if (name === 'hostname') return [`${label}.example.com`, `${label}.test`]
    if (name === 'repo_branch' || name === 'branch') return ['main']
    if (name === 'folder') return ['/nowhere', `/nowhere/${label}`]
    if (name === 'path') return [repository.folder, '/nowhere', '/etc/passwd', '.', 'uploads']
    if (name === 'url') return ['/', '/a.txt']
    if (name === 'sql') return ['SELECT 1 AS one', 'SELECT 1 / 0', 'CREATE TABLE IF NOT EXISTS things (id int PRIMARY KEY)']
    if (name === 'table') return ['things']
    if (name === 'id') return ['<act:0:id>']
    if (name === 'snapshot_id') return ['<snp:0:id>', '<snp:1:id>']
    if (name === 'owner_email') return [owner]
    if (name === 'member_email') return ['member@example.com', 'stranger@example.com']
    if (name === 'host') return [registryHost, 'localhost:5000']
    if (name === 'address') return ['http://127.0.0.1:9/hook']
    if (name === 'project') return ['one', 'two']
    if (name === 'service') return ['web', 'worker']
    if (name === 'origin') return ['http://127.0.0.1:9', 'https://localhost']
    if (name === 'email') return [`${label}@example.com`, 'member@example.com']
    return undefined
  }

  function next(count: number): FuzzRequest {
    let point = (seededRandom.between(0, 999_999) / 1_000_000) * sum
    const [operation, spec] = fuzzed.find(([id]) => (point -= weights[id] ?? 1) < 0) ?? fuzzed[0]!
    const isWild = seededRandom.chance(0.1)
    const who = seededRandom.chance(0.75) ? 'owner' : seededRandom.pick(['session', 'member', 'member', 'stranger', 'anonymous', 'wrong'] as const)
    const method = isWild && seededRandom.chance(0.2) ? seededRandom.pick(['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS']) : spec.method
    const headers: Record<string, string> = {}
    if (method === 'POST' && seededRandom.chance(0.1))
      headers['idempotency-key'] = seededRandom.pick(['a', 'b', `key-${count}`, 'Ã©', 'x'.repeat(300)])
    const query = Object.entries(schemas.get(operation)?.query ?? {}).flatMap(([name, schema]): [string, string][] => {
      if (spec.query.shape[name]?.safeParse(undefined).success && seededRandom.chance(0.7)) return []
      return [[name, text(seededRandom.chance(isWild ? 0.2 : 0.9) ? values.valid(schema, name) : values.strange())]]
    })
    if (isWild) query.push([seededRandom.pick(['limit', 'cursor', 'x', '__proto__']), seededRandom.pick(hostileTexts).toWellFormed()])
    return { operation, who, method, path: pathOf(spec, isWild), query, headers, ...bodyOf(operation, spec, headers, isWild) }
  }

  function pathOf({ method, path, group }: OperationSpec, isWild: boolean): string {
    const of = `<${kindOf(path)}:${seededRandom.between(0, 19)}`
    const fill = (name: string): string => {
      if (isWild && seededRandom.chance(0.5)) return encodeURIComponent(seededRandom.pick(hostileTexts).toWellFormed())
      if (name === 'id' || name === 'session') return seededRandom.chance(0.95) ? `${of}:id>` : `dpl_${'0'.repeat(26)}`
      if (name === 'slug' && /\{(id|session)\}/.test(path)) return `${of}:slug>`
      // The first project, which has the services and volumes, is not among them.
      if (name === 'slug' && method === 'DELETE' && path.endsWith('/{slug}')) return '<prj:0:slug>'
      // Only the first project has a live version.
      if (name === 'slug' && /\/(services|volumes|commands|database|cache)\b/.test(path) && seededRandom.chance(0.6)) return 'one'
      if (name === 'host') return registryHost
      if (name === 'slug')
        return seededRandom.chance(0.3) ? 'one' : seededRandom.chance(0.95) ? `<prj:${seededRandom.between(0, 19)}:slug>` : 'nowhere'
      if (name === 'name' && path.includes('/backups/')) return `${of}:id>`
      if (name === 'variant') return seededRandom.pick(['desktop', 'mobile', 'other'])
      if (name === 'name') return seededRandom.pick(path.includes('/volumes/') ? ['files', 'other'] : ['web', 'worker', 'job', 'redis'])
      return encodeURIComponent(name === 'email' ? 'member@example.com' : 'nothing')
    }
    const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) => fill(name))
    return group !== 'Instance' && seededRandom.chance(0.15) ? filled.replace(/^\/v1/, '') : filled
  }

  function bodyOf(operation: string, spec: OperationSpec, headers: Record<string, string>, isWild: boolean): { body?: string } {
    const schema = schemas.get(operation)?.body
    if (spec.upload) {
      headers['content-type'] = seededRandom.pick([...spec.upload.types, 'application/json'])
      return { body: seededRandom.chance(0.7) ? 'archive' : 'no archive' }
    }
    if (!schema) return {}
    headers['content-type'] = seededRandom.chance(0.97)
      ? 'application/json'
      : seededRandom.pick(['text/plain', 'application/json; charset=utf-16', 'multipart/form-data'])
    if (seededRandom.chance(0.02)) return { body: '{"half' }
    const good = values.valid(schema)
    if (operation === 'createProject') slugs.push(text((good as { slug?: unknown }).slug))
    if (!isWild) return { body: JSON.stringify(seededRandom.chance(0.85) ? good : values.broken(good)) }
    const fields = Object.keys(typeof good === 'object' && good !== null ? good : {}).map((name) => [
      name,
      seededRandom.pick<unknown>([seededRandom.pick(hostileTexts), values.strange()]),
    ])
    return { body: JSON.stringify(seededRandom.chance(0.8) ? Object.fromEntries(fields) : values.strange()) }
  }
}

const schemaOf = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema

/** Encodes a value for a URL. */
const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed().slice(0, 500)
