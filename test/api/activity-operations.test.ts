import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { JsonSchema } from '../../server/api/openapi/types.ts'
import type { ApiServerOptions } from '../../server/api/server.ts'
import { activityActions } from '../../server/contract/activity-actions.ts'
import { Problem } from '../../server/contract/errors.ts'
import { allOperations, type OperationId } from '../../server/contract/index.ts'
import type { OperationSpec } from '../../server/contract/operation.ts'
import type { OperationContext, OperationHandlers } from '../../server/features/context.ts'
import type { ActivityRow } from '../../server/store/activity-tables.ts'
import { tables } from '../../server/store/query.ts'
import type { Store } from '../../server/store/store.ts'
import { type ApiServer, bearer, startApiServer } from '../support/api-server.ts'
import { deploymentRow } from '../support/database-rows.ts'
import { createSchemaValues } from '../support/schema-values.ts'
import { createSeededRandom } from '../support/seeded-random.ts'

/*
 * Every operation of the contract with handlers that do nothing but answer: exactly one entry for a change that succeeds, none for a failure, a
 * replay or a read. A new operation fails until `activityActions` says how it is recorded.
 */

/** In every field of a request or a response that may hold a secret. */
const secret = 'HPSENT-activity-0123456789'
const secretFields = ['value', 'password', 'token', 'code', 'setup_code', 'auth_code', 'url', 'command', 'folder', 'path', 'registrant', 'api_key']

/** Values for fields with rules that a JSON schema does not express. */
const hints: Record<string, readonly unknown[]> = {
  slug: ['example'],
  hostname: ['www.example.com'],
  host: ['registry.example.com'],
  branch: ['feature'],
  from_branch: ['main'],
  repo_branch: ['main'],
  repo_url: ['https://git.example.com/team/app.git'],
  url: ['https://homeport.example.com'],
  urls: [['https://example.localhost/']],
  email: ['ana@example.com'],
  member_email: ['ana@example.com'],
  owner_email: ['bo@example.com'],
  value: [secret],
  password: [secret],
  token: [`svc_${secret}`],
  code: [secret],
  setup_code: [secret],
  key: ['API_KEY'],
  path: ['/data'],
  folder: ['/data/app'],
  root_directory: ['.'],
  watch_paths: [['src/**']],
  public_ports: [[]],
  apps: [[]],
  node_version: ['22'],
  health_path: ['/health'],
  read_only: [false],
  preview: [false],
  name: ['example'],
}

let api: ApiServer
let store: Store
let mode: 'real' | 'succeed' | 'fail' = 'real'

const values = createSchemaValues({ random: createSeededRandom(7), seed: 7, schemas: {}, hints: (name) => hints[name] })

/** A valid body: the generator also makes some that break a rule that only the code of the schema has. */
function createBody(schema: z.ZodType): unknown {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema
  for (let attempt = 0; attempt < 2000; attempt++) {
    const body = values.valid(json)
    if (schema.safeParse(body).success) return body
  }
  throw new Error(`No valid body was generated for ${JSON.stringify(json).slice(0, 300)}`)
}

/** Handlers that answer a response of the contract, whose secrets are `secret`. */
function answerAll(options: ApiServerOptions): Partial<ApiServerOptions> {
  const answer = async (id: OperationId, context: OperationContext, input: { upload?: AsyncIterable<Uint8Array> }) => {
    for await (const _ of input.upload ?? []);
    if (mode === 'fail') throw new Problem('storage_full', 'The disk of this machine is full.')
    const { success, is_atomic } = allOperations[id] as OperationSpec
    const output =
      'json' in success ? withSecrets(values.valid(z.toJSONSchema(success.json, { io: 'output', unrepresentable: 'any' }) as JsonSchema)) : undefined
    if (is_atomic) await store.db.write((tx) => context.saveResponse?.(tx, output))
    return output
  }
  const handlers = Object.fromEntries(
    Object.entries(options.handlers).map(([id, handler]) => [
      id,
      (context: OperationContext, input: { upload?: AsyncIterable<Uint8Array> }) =>
        mode !== 'real' && Object.hasOwn(activityActions, id)
          ? answer(id as OperationId, context, input)
          : (handler as (context: OperationContext, input: unknown) => Promise<unknown>)(context, input),
    ]),
  )
  return { handlers: handlers as unknown as OperationHandlers }
}

function withSecrets(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return secretFields.includes(name) ? secret : value
  if (Array.isArray(value)) return value.map((one) => withSecrets(one, name))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withSecrets(one, key)]))
}

const rows = () => store.db.read((tx) => tx.all<ActivityRow>(tables.selectFrom('activity').selectAll().orderBy('seq')))
const ids: Record<string, string> = { env_var: 'env_1', domain: 'dom_1', deployment: 'dpl_1', database_dump: 'dmp_1' }

beforeAll(async () => {
  api = await startApiServer({
    overrides(options, memory) {
      store = memory
      return answerAll(options)
    },
  })
  await api.createProject('real')
  const project = await store.db.read((tx) => tx.first<{ id: string }>(tables.selectFrom('projects').select('id')))
  const now = '2026-01-31T12:00:00.000Z'
  const project_id = project?.id ?? ''
  await store.db.write((tx) => {
    const sealed_value = Buffer.from(secret)
    tx.run(
      tables
        .insertInto('env_vars')
        .values({ id: 'env_1', project_id, key: 'API_KEY', sealed_value, environment: null, is_sensitive: 1, created_at: now, updated_at: now }),
    )
    tx.run(
      tables.insertInto('domains').values({
        id: 'dom_1',
        account_id: api.owner.account_id,
        project_id,
        hostname: 'www.example.com',
        status: 'pending',
        verified_at: null,
        created_at: now,
        last_check_at: null,
        last_check_error: null,
        owned_domain_id: null,
      }),
    )
    tx.run(tables.insertInto('deployments').values(deploymentRow({ id: 'dpl_1', project_id })))
    const dump = { id: 'dmp_1', project_id, project_slug: 'real', service: '', db_name: 'real', name: '', reason: 'manual' as const }
    tx.run(tables.insertInto('database_dumps').values({ ...dump, file: 'real.dump', bytes: 1, created_at: now }))
  })
})
afterAll(() => api.close())

/** What a body must say to be a change. */
const changes: Partial<Record<OperationId, object>> = { queryDatabase: { read_only: false }, changeDatabaseRows: { preview: false } }

async function call(id: OperationId, headers: Record<string, string> = {}): Promise<{ status: number; added: ActivityRow[] }> {
  const { method, path, body, upload, resource = '' } = allOperations[id] as OperationSpec
  const before = (await rows()).length
  const query = id === 'removeFork' ? '?branch=feature' : ''
  const url = `${path}${query}`
    .replace('{slug}', 'real')
    .replace('{id}', ids[resource] ?? 'example')
    .replace('{name}', 'redis')
    .replaceAll(/\{\w+\}/g, 'example')
  const sent = { ...bearer(api.owner.token), ...headers }
  const init: RequestInit = { method, headers: sent }
  if (body)
    Object.assign(init, {
      body: JSON.stringify({ ...(createBody(body) as object), ...changes[id] }),
      headers: { ...sent, 'content-type': 'application/json' },
    })
  if (upload) Object.assign(init, { body: gzipSync('archive'), headers: { ...sent, 'content-type': upload.types[0] } })
  const response = await api.fetch(url, init)
  const text = await response.text()
  if (response.status >= 400 && mode === 'succeed') throw new Error(`${method} ${url}: ${response.status} ${text}`)
  return { status: response.status, added: (await rows()).slice(before) }
}

const recorded = Object.entries(activityActions) as [OperationId, string | null][]

test('the table names every operation that is not a GET', () => {
  const changing = Object.entries(allOperations).filter(([, { method }]) => method !== 'GET')
  expect(Object.keys(activityActions).toSorted()).toEqual(changing.map(([id]) => id).toSorted())
})

describe('one entry for each change, and no secret in it', () => {
  test.each(recorded)('%s: %s', async (id, action) => {
    mode = 'succeed'
    const { added } = await call(id)
    expect(added.map((row) => row.action)).toEqual(action === null ? [] : [action])
    expect(JSON.stringify(added)).not.toContain('HPSENT')
    for (const row of added) {
      expect(row).toMatchObject({ actor_kind: 'user', actor_name: api.owner.email, via: 'api', is_outcome: 0, client_ip: '127.0.0.0' })
      expect(row.request_id).toMatch(/^req_/)
      const { path } = allOperations[id]
      if (path.includes('{slug}')) expect(row).toMatchObject({ project_slug: 'real', account_id: api.owner.account_id })
    }
  })
})

test.each(recorded)('no entry for a failed %s', async (id) => {
  mode = 'fail'
  const { status, added } = await call(id)
  expect([status, added]).toEqual([507, []])
})

test.each(['createEnvVars', 'stopProject'] as const)('no second entry for a replay of %s', async (id) => {
  mode = 'succeed'
  const key = { 'idempotency-key': `replay-${id}` }
  const body = id === 'createEnvVars' ? { body: JSON.stringify({ key: 'API_KEY', value: 'x' }) } : {}
  const ask = () =>
    api.fetch(id === 'createEnvVars' ? '/v1/projects/real/env-vars' : '/v1/projects/real/stop', {
      method: 'POST',
      headers: { ...bearer(api.owner.token), ...key, 'content-type': 'application/json' },
      ...body,
    })
  const before = (await rows()).length
  const responses = [await ask(), await ask()]
  expect(responses.map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true'])
  expect((await rows()).length).toBe(before + 1)
})

test('reads are not recorded', async () => {
  const before = (await rows()).length
  for (const path of ['/v1/projects', '/v1/projects/real', '/instance/settings', '/instance/activity'])
    expect((await api.fetch(path, { headers: bearer(api.owner.token) })).status).toBe(200)
  expect((await rows()).length).toBe(before)
})
