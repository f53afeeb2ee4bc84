import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ErrorCode } from '../../server/contract/errors.ts'
import { errorStatus } from '../../server/contract/errors.ts'
import { operations } from '../../server/contract/index.ts'
import type { OperationSpec } from '../../server/contract/operation.ts'
import { openApiDocument } from '../../server/http/openapi.ts'
import { tgzOf } from '../support/archives.ts'
import { readDescription } from '../support/described.ts'
import { deployed, startWorld } from './world.ts'
import type { World } from './world.ts'

/*
 * The whole matrix: every operation of the customer, at its path and at its alias, asked by everybody there is. The record of the
 * contract drives it, so that a new operation is asked too, and fails until somebody says below what it shall answer.
 */

const principals = ['none', 'wrong', 'revoked', 'stranger', 'member', 'owner'] as const
type Principal = (typeof principals)[number]

interface Expectation {
  /** A code that refuses; the success of the contract when absent. `stranger` alone is never absent where a path names something of the owner's. */
  owner?: ErrorCode
  member?: ErrorCode
  stranger?: ErrorCode
  body?: object | (() => object)
  query?: string
  /** What the path names, where the shared project and its deployment will not do: made anew for each who may use it up. */
  made?: () => Promise<{ slug?: string; id?: string }>
}

let world: World
let deployment: string
let variable: string
let count = 0
const fresh = () => `matrix-${++count}`

const archive = tgzOf([{ name: 'package.json', data: '{"name":"x","private":true,"scripts":{"start":"node server.js"}}' }])

async function made(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const answer = await world.ask('owner', method, path, body)
  expect([method, path, answer.status < 300 ? answer.status : answer.text]).toEqual([method, path, answer.status])
  return answer.body
}
async function newProject() {
  const slug = fresh()
  await world.home.createProject({ slug })
  return { slug }
}
async function newDatabase() {
  const { slug } = await newProject()
  await made('POST', `/v1/projects/${slug}/database`)
  return { slug }
}
async function newVariable() {
  const { slug } = await newProject()
  const { created } = await made('POST', `/v1/projects/${slug}/env-vars`, { key: 'A', value: 'b' })
  return { slug, id: (created as { id: string }[])[0]?.id ?? '' }
}
async function newDomain() {
  const { slug } = await newProject()
  const { domain } = await made('POST', `/v1/projects/${slug}/domains`, { hostname: `${slug}.example.com` })
  return { slug, id: (domain as { id: string }).id }
}
async function newToken() {
  const { api_token } = await made('POST', '/v1/tokens', { name: fresh() })
  return { id: (api_token as { id: string }).id }
}
const databaseSlug = async () => ({ slug: 'with-database' })

/** What is not said here is the success of the contract for who may see the project, and 404 for the stranger. */
const expected: Record<string, Expectation> = {
  createProject: { body: () => ({ name: 'n', slug: fresh() }) },
  listProjects: {},
  getProject: {},
  updateProject: { body: { name: 'renamed' } },
  deleteProject: { made: newProject, member: 'forbidden' },
  stopProject: { made: newProject },
  createPurgeToken: {},
  purgeAll: {},
  purgeTags: { body: { tags: ['a'] } },
  listCacheEvents: {},
  createDatabase: { made: newProject },
  getDatabase: { made: databaseSlug },
  deleteDatabase: { made: newDatabase },
  deployProject: {},
  retryDeployment: {},
  cancelDeployment: { owner: 'deployment_terminal', member: 'deployment_terminal' },
  rollbackDeployment: {},
  listDeployments: {},
  getDeployment: {},
  streamBuildLog: {},
  streamRuntimeLog: {},
  getScreenshot: { owner: 'screenshot_not_found', member: 'screenshot_not_found' },
  listPreviews: {},
  getMetrics: {},
  listEnvVars: {},
  createEnvVars: { body: () => ({ key: `KEY_${++count}`, value: 'v', environment: 'preview' }) },
  updateEnvVar: { body: { value: 'v' }, made: async () => ({ slug: 'matrix', id: variable }) },
  deleteEnvVar: { made: newVariable },
  uploadProject: { made: newProject },
  getBillingStatus: {},
  createSetupIntent: { owner: 'billing_not_configured', member: 'billing_not_configured', stranger: 'billing_not_configured' },
  confirmBilling: { body: {}, owner: 'billing_not_configured', member: 'billing_not_configured', stranger: 'billing_not_configured' },
  cancelBilling: { owner: 'billing_not_configured', member: 'billing_not_configured', stranger: 'billing_not_configured' },
  listDomains: {},
  searchDomains: { query: '?q=matrix' },
  getDomain: { made: newDomain },
  listProjectDomains: {},
  addDomain: { body: () => ({ hostname: `${fresh()}.example.com` }) },
  verifyDomain: { made: newDomain },
  deleteDomain: { made: newDomain },
  purchaseDomain: { body: () => ({ hostname: `${fresh()}.test` }), member: 'forbidden' },
  transferDomain: { made: newDomain, owner: 'transfer_not_allowed', member: 'forbidden' },
  createToken: { body: { name: 'of the matrix' } },
  listTokens: {},
  revokeToken: { made: newToken, member: 'token_not_found' },
}

beforeAll(async () => {
  world = await startWorld()
  deployment = (await deployed(world, 'matrix')).id
  await world.home.ended('matrix', deployment)
  const { created } = await made('POST', '/v1/projects/matrix/env-vars', { key: 'A', value: 'b', environment: 'preview' })
  variable = (created as { id: string }[])[0]?.id ?? ''
  await world.home.createProject({ slug: 'with-database' })
  await made('POST', '/v1/projects/with-database/database')
}, 120_000)
afterAll(() => world.close())

const description = readDescription(openApiDocument())
const list = Object.entries(operations) as [string, OperationSpec][]
let cells = 0

const tokenOf = (who: Principal): string | null =>
  ({
    none: null,
    wrong: 'svc_00000000000000000000000000000000000000000000',
    revoked: world.tokens.gone,
    stranger: world.tokens.stranger,
    member: world.tokens.member,
    owner: world.tokens.owner,
  })[who]

/** The refusal that a cell shall give; undefined: the success of the contract. */
function refusalOf(spec: OperationSpec, { owner, member, stranger }: Expectation, who: Principal): ErrorCode | undefined {
  if (who === 'owner') return owner
  if (who === 'member') return member
  if (who !== 'stranger') return 'unauthorized'
  if (spec.path.includes('{slug}')) return 'project_not_found'
  return spec.path.includes('{id}') ? spec.errors.find((code) => code.endsWith('_not_found')) : stranger
}

describe('every operation, at both paths, by everybody', () => {
  test.each(list)('%s', { timeout: 120_000 }, async (id, spec) => {
    const expectation = expected[id]
    if (!expectation) throw new Error(`Say in the table of this test what ${id} shall answer.`)
    // Who may not use it cannot use it up either.
    const shown = await expectation.made?.()
    for (const who of principals) {
      for (const path of [spec.path, spec.path.replace(/^\/v1/, '')]) {
        const own = who === 'member' || who === 'owner' ? await expectation.made?.() : shown
        const named = { slug: 'matrix', id: deployment, ...own }
        const cell = `${who} ${spec.method} ${path}`
        const answer = await ask(who, spec, path.replace('{slug}', named.slug).replace('{id}', named.id).replace('{variant}', 'desktop'), expectation)
        const refusal = refusalOf(spec, expectation, who)
        const status = refusal === undefined ? spec.success.status : errorStatus[refusal]
        expect({ cell, status: answer.status, error: answer.error }).toEqual({ cell, status, error: refusal })
        expect({ cell, wrong: description.wrong(spec, answer) }).toEqual({ cell, wrong: [] })
        expect(answer.headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/)
        expect(answer.headers.get('x-ratelimit-limit')).toMatch(/^\d+$/)
        expect([cell, answer.headers.get('deprecation')]).toEqual([cell, path === spec.path ? null : 'true'])
        expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null)
        cells++
      }
    }
  })

  test('asked every cell', () => {
    expect(cells).toBe(list.length * 2 * principals.length)
    expect(Object.keys(expected)).toHaveLength(45)
  })
})

async function ask(who: Principal, spec: OperationSpec, path: string, { body, query = '' }: Expectation) {
  const token = tokenOf(who)
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` }
  const leave = new AbortController()
  const init: RequestInit = { method: spec.method, headers, signal: leave.signal }
  if (spec.body) {
    headers['content-type'] = 'application/json'
    init.body = JSON.stringify(typeof body === 'function' ? body() : body)
  }
  if (spec.upload) {
    headers['content-type'] = 'application/gzip'
    init.body = new Uint8Array(archive)
  }
  const answer = await fetch(world.home.platform.api_url + path + query, init)
  const type = answer.headers.get('content-type')
  // A stream goes on; that it began is enough here.
  const text = type?.startsWith('text/event-stream') ? '' : await answer.text()
  leave.abort()
  const error = answer.status >= 400 ? (JSON.parse(text) as { error: string }).error : undefined
  return { status: answer.status, headers: answer.headers, type, text, error }
}
