import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ErrorCode, errorStatus } from '../../server/contract/errors.ts'
import { allOperations, operations } from '../../server/contract/index.ts'
import type { OperationSpec } from '../../server/contract/operation.ts'
import { openApiDocument } from '../../server/api/openapi/document.ts'
import { createTarGz } from '../support/archives.ts'
import { createOpenApiValidator } from '../support/openapi-validator.ts'
import { isFullTier } from '../support/tier.ts'
import { until } from '../support/until.ts'
import { type ApiResponse, startDeployment, expectError, createApiContext, type Caller, type ApiContext } from './api-context.ts'

/*
 * Authorization: every operation, at its path and its alias, called by every kind of caller. The test iterates over the
 * contract, so that a new operation fails until the table below states its result. Another account cannot tell an existing
 * project from an unknown one: the responses are byte for byte the same except for the request id, for valid and invalid input.
 */

const principals = ['stranger', 'member', 'owner'] as const
type Principal = (typeof principals)[number]

interface Expectation {
  /** The expected error code; absent for the success of the contract. `stranger` is never absent where a path names a resource of the owner. */
  owner?: ErrorCode
  member?: ErrorCode
  stranger?: ErrorCode
  body?: object | (() => object)
  query?: string
  /** So expensive that the member calls only the path, and the owner only the alias. */
  is_expensive?: boolean
  /** Path parameters where the shared project and deployment cannot be used: created again for each caller that consumes them. */
  made?: () => Promise<{ slug?: string; id?: string }>
}

let context: ApiContext
/** A deployment of `matrix`, the owner's project, one of `other`, another project of the owner, and one of the stranger's `strange`. */
let deployment: string
let other: string
let theirs: string
let variable: string
let count = 0
const fresh = () => `matrix-${++count}`

const archive = createTarGz([{ name: 'package.json', data: '{"name":"x","private":true,"scripts":{"start":"node server.js"}}' }])

async function create(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const response = await context.request('owner', method, path, body)
  expect([method, path, response.status < 300 ? response.status : response.text]).toEqual([method, path, response.status])
  return response.body
}
async function newProject() {
  const slug = fresh()
  await context.platform.createProject({ slug })
  return { slug }
}
async function newDatabase() {
  const { slug } = await newProject()
  await create('POST', `/v1/projects/${slug}/database`)
  return { slug }
}
async function newVariable() {
  const { slug } = await newProject()
  const { created } = await create('POST', `/v1/projects/${slug}/env-vars`, { key: 'A', value: 'b' })
  return { slug, id: (created as { id: string }[])[0]?.id ?? '' }
}
async function newDomain() {
  const { slug } = await newProject()
  const { domain } = await create('POST', `/v1/projects/${slug}/domains`, { hostname: `${slug}.example.com` })
  return { slug, id: (domain as { id: string }).id }
}
async function newToken() {
  const { api_token } = await create('POST', '/v1/tokens', { name: fresh() })
  return { id: (api_token as { id: string }).id }
}

/** Without an entry here: the success of the contract for callers who can see the project, and 404 for the stranger. */
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
  createDatabase: { made: newProject, is_expensive: true },
  getDatabase: {},
  deleteDatabase: { made: newDatabase, is_expensive: true },
  deployProject: { is_expensive: !isFullTier },
  retryDeployment: { is_expensive: !isFullTier },
  cancelDeployment: { owner: 'deployment_terminal', member: 'deployment_terminal' },
  rollbackDeployment: { is_expensive: !isFullTier },
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
  uploadProject: { made: newProject, is_expensive: !isFullTier },
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
  context = await createApiContext()
  ;[deployment, other] = [(await startDeployment(context, 'matrix')).id, (await startDeployment(context, 'other')).id]
  await context.platform.waitForEnd('matrix', deployment)
  await context.platform.waitForEnd('other', other)
  const { created } = await create('POST', '/v1/projects/matrix/env-vars', { key: 'A', value: 'b', environment: 'preview' })
  variable = (created as { id: string }[])[0]?.id ?? ''
  await context.request('stranger', 'POST', '/v1/projects', { name: 'n', slug: 'strange', repo_url: 'https://git.invalid/a.git' })
  theirs = (await context.request('stranger', 'POST', '/v1/projects/strange/deploy')).body.deployment_id as string
})
afterAll(() => context.close())

const description = createOpenApiValidator(openApiDocument())
const list = Object.entries(operations) as [string, OperationSpec][]
let cells = 0

/** The error code that a combination must return; undefined for the success of the contract. */
function refusalOf(spec: OperationSpec, { owner, member, stranger }: Expectation, who: Principal): ErrorCode | undefined {
  if (who === 'owner') return owner
  if (who === 'member') return member
  if (spec.path.includes('{slug}')) return 'project_not_found'
  return spec.path.includes('{id}') ? spec.errors.find((code) => code.endsWith('_not_found')) : stranger
}

const everything = Object.entries(allOperations) as [string, OperationSpec][]
const ofProjects = everything.filter(([, spec]) => spec.path.includes('{slug}'))
const withDeployment = ofProjects.filter(([, spec]) => spec.path.includes('{id}'))
/** The operation's error code for an unknown id. */
const unknownOf = (spec: OperationSpec) => spec.errors.find((code) => code.endsWith('_not_found') && code !== 'project_not_found') ?? ''
/** Of operations that check the body first. */
const validBodies: Record<string, object> = {
  replayRequest: { target: { kind: 'production' } },
  updateNotificationTarget: { name: 'renamed' },
  updateLogDrain: { name: 'renamed' },
}
const fill = (path: string, slug: string, id: string) => path.replace('{slug}', slug).replace('{id}', id)
const bothPaths = (path: string) => [path, path.replace(/^\/v1/, '')]

const pathsFor = (who: Principal, spec: OperationSpec, { is_expensive }: Expectation) => {
  const [path = '', alias = ''] = bothPaths(spec.path)
  if (!is_expensive || who === 'stranger') return [path, alias]
  return who === 'member' ? [path] : [alias]
}

/** Everything in a response except what differs each time. */
function comparable(response: ApiResponse, slug: string) {
  const headers = Object.fromEntries(
    [...response.headers].filter(([name]) => !['x-request-id', 'date', 'x-ratelimit-remaining', 'x-ratelimit-reset'].includes(name)),
  )
  if (headers.link) headers.link = headers.link.replaceAll(slug, 'SLUG')
  return { status: response.status, headers, body: response.text.replaceAll(response.headers.get('x-request-id') ?? '', 'ID') }
}

/** Valid, invalid and malformed requests, none of which may reveal more to a stranger. */
const inputs: { body?: unknown; headers?: Record<string, string>; query?: string }[] = [
  {},
  { body: {} },
  { body: { unknown_field: 1 } },
  { body: 'not json' },
  { body: 'text', headers: { 'content-type': 'text/plain' } },
  { query: '?limit=0&lines=1&limit=9' },
]
/** By default one of each kind. */
const sentInputs = isFullTier ? inputs : inputs.filter((_, index) => [0, 3, 5].includes(index))

describe('another account', () => {
  test.each(ofProjects)('%s: a project of another account is indistinguishable from an unknown one', async (_id, spec) => {
    const cells = bothPaths(spec.path).flatMap((path) =>
      // Both paths use the same code, so the further inputs are sent to one of them.
      (path === spec.path ? sentInputs : inputs.slice(0, 1)).map((input) => ({ path, ...input })),
    )
    await Promise.all(
      cells.map(async ({ path, body, headers, query = '' }) => {
        if (body !== undefined && spec.method === 'GET') return
        const ask = (slug: string, id: string) => context.request('stranger', spec.method, fill(path, slug, id) + query, body, headers)
        const [hidden, missing] = await Promise.all([ask('matrix', deployment), ask('none', deployment)])
        expectError(hidden, 404, 'project_not_found')
        expect(comparable(hidden, 'matrix')).toEqual(comparable(missing, 'none'))
      }),
    )
  })

  test.each(withDeployment)('%s: an id of another project under the caller’s own slug is unknown', async (operation, spec) => {
    for (const path of bothPaths(spec.path)) {
      const ask = (id: string) => context.request('stranger', spec.method, fill(path, 'strange', id), validBodies[operation])
      const foreign = await ask(deployment)
      const missing = await ask('dpl_00000000000000000000000000')
      expectError(foreign, 404, unknownOf(spec))
      expect(comparable(foreign, deployment)).toEqual({ ...comparable(missing, ''), headers: expect.anything() })
      expect(comparable(foreign, '').body).toBe(comparable(missing, '').body)
    }
  })

  test('has changed nothing', async () => {
    const project = await context.platform.getProject('matrix')
    expect(project).toMatchObject({ status: 'live', name: 'matrix', repo_url: context.repository.url })
    const { deployments } = (await context.request('owner', 'GET', '/v1/projects/matrix/deployments')).body as { deployments: { id: string }[] }
    expect(deployments.map(({ id }) => id)).toEqual([deployment])
    expect((await context.platform.fetchEdge('matrix.localhost')).body).toBe('one')
    // That was a visit. It is recorded within a second, and later tests must not see the project change.
    await until(async () => (await context.platform.getProject('matrix')).last_request_at ?? undefined, { what: 'the visit to be noted' })
  })

  test('does not see the project in a list', async () => {
    const list = await context.request('stranger', 'GET', '/v1/projects?limit=100')
    expect(list.text).not.toContain('matrix')
    expect((list.body.projects as { slug: string }[]).map(({ slug }) => slug)).toEqual(['strange'])
  })
})

describe('an owner', () => {
  test.each(withDeployment)('%s: an id of another own project is unknown under this slug', async (operation, spec) => {
    expectError(await context.request('owner', spec.method, fill(spec.path, 'matrix', other), validBodies[operation]), 404, unknownOf(spec))
  })
  test.each(ofProjects)('%s: the instance owner sees no projects of other accounts', async (_id, spec) => {
    expectError(await context.request('instance_owner', spec.method, fill(spec.path, 'strange', theirs)), 404, 'project_not_found')
  })
})

describe('a caller without a valid credential', () => {
  test.each(everything)('%s is 401, whether or not the project exists', async (id, spec) => {
    const paths = spec.path.startsWith('/v1') ? bothPaths(spec.path) : [spec.path]
    const credentials = ['anonymous', 'gone', { token: 'svc_wrong' }] as const
    // Credentials are checked before the path is resolved, so that by default each operation is asked with one of them, in turn.
    const turn = everything.findIndex(([other]) => other === id) % credentials.length
    const asked = isFullTier ? credentials : credentials.slice(turn, turn + 1)
    const cells = paths.flatMap((path) => asked.map((who) => ({ path, who })))
    await Promise.all(
      cells.map(async ({ path, who }) => {
        const ask = (slug: string) => context.request(who, spec.method, fill(path, slug, deployment))
        const [there, missing] = await Promise.all([ask('matrix'), ask('none')])
        expectError(there, 401, 'unauthorized')
        expect(there.headers.get('www-authenticate')).toBe('Bearer')
        expect(comparable(there, 'matrix')).toEqual(comparable(missing, 'none'))
        if (id in operations) expect(description.validateResponse(spec, { ...there, type: there.headers.get('content-type') })).toEqual([])
      }),
    )
  })
})

describe('every operation, at both paths, for every kind of caller', () => {
  // A database changes the project and its deployment.
  beforeAll(async () => {
    const { deployment_id } = await create('POST', '/v1/projects/matrix/database')
    await context.platform.waitForEnd('matrix', String(deployment_id))
  })

  test.each(list)('%s', async (id, spec) => {
    const expectation = expected[id]
    if (!expectation) throw new Error(`Say in the table of this test what ${id} shall answer.`)
    // A caller without access cannot consume a resource, and one that cannot see the project needs none.
    const shown = spec.path.includes('{slug}') ? {} : await expectation.made?.()
    for (const who of principals) {
      for (const path of pathsFor(who, spec, expectation)) {
        const own = who === 'stranger' ? shown : await expectation.made?.()
        const named = { slug: 'matrix', id: deployment, ...own }
        const cell = `${who} ${spec.method} ${path}`
        const response = await ask(
          who,
          spec,
          path.replace('{slug}', named.slug).replace('{id}', named.id).replace('{variant}', 'desktop'),
          expectation,
        )
        const refusal = refusalOf(spec, expectation, who)
        const status = refusal === undefined ? spec.success.status : errorStatus[refusal]
        expect({ cell, status: response.status, error: response.error }).toEqual({ cell, status, error: refusal })
        expect({ cell, wrong: description.validateResponse(spec, response) }).toEqual({ cell, wrong: [] })
        expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/)
        expect(response.headers.get('x-ratelimit-limit')).toMatch(/^\d+$/)
        expect([cell, response.headers.get('deprecation')]).toEqual([cell, path === spec.path ? null : 'true'])
        cells++
      }
    }
  })

  test('covers every combination', () => {
    const expensive = Object.values(expected).filter((one) => one.is_expensive)
    expect(cells).toBe(list.length * 2 * principals.length - 2 * expensive.length)
    expect(Object.keys(expected)).toHaveLength(45)
  })
})

describe('a team member', () => {
  // No message, volume, trace or captured request exists to be read, and rows are those of a table.
  const reads = ofProjects.filter(
    ([, spec]) =>
      spec.method === 'GET' &&
      'json' in spec.success &&
      !/\{message\}|\{trace_id\}|volumes\/\{name\}|requests\/\{id\}\/capture|database\/rows/.test(spec.path),
  )
  test.each(reads)('%s: gets what the owner gets, at both paths', async (_id, spec) => {
    for (const path of isFullTier ? bothPaths(spec.path) : [spec.path]) {
      const look = (who: Caller) => context.request(who, 'GET', fill(path, 'matrix', deployment))
      // Some values change by themselves (resource usage, the last check of the repository), so compare between two equal reads.
      const { mine, owners } = await until(
        async () => {
          const [before, ofMember, after] = [await look('owner'), await look('member'), await look('owner')]
          return isDeepStrictEqual(before.body, after.body) ? { mine: ofMember, owners: after } : undefined
        },
        { what: 'two looks that are the same' },
      )
      expect(mine.status).toBe(200)
      expect(mine.body).toEqual(owners.body)
    }
  })

  test('can deploy, and loses access when removed from the team', async () => {
    const team = { owner_email: context.platform.owner.user.email, member_email: 'member@example.com' }
    expect((await context.request('member', 'POST', '/v1/projects/other/deploy')).status).toBe(201)
    expect((await context.request('instance_owner', 'POST', '/instance/team/remove', team)).status).toBe(200)
    const after = await context.request('member', 'GET', '/v1/projects/matrix')
    expect(comparable(after, 'matrix')).toEqual(comparable(await context.request('member', 'GET', '/v1/projects/none'), 'none'))
    await context.request('instance_owner', 'POST', '/instance/team', team)
    expect((await context.request('member', 'GET', '/v1/projects/matrix')).status).toBe(200)
  })
})

describe('operations of the instance', () => {
  test.each(everything.filter(([, spec]) => spec.access === 'owner'))('%s is for the owner only', async (_id, spec) => {
    for (const who of ['member', 'stranger'] as const) {
      expectError(
        await context.request(who, spec.method, spec.path.replace('{email}', 'stranger%40example.com'), spec.body ? {} : undefined),
        403,
        'forbidden',
      )
    }
  })
})

async function ask(who: Principal, spec: OperationSpec, path: string, { body, query = '' }: Expectation) {
  const headers: Record<string, string> = { authorization: `Bearer ${context.tokens[who]}` }
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
  const response = await fetch(context.platform.handle.api_url + path + query, init)
  const type = response.headers.get('content-type')
  // A stream does not end. It is enough that it started.
  const text = type?.startsWith('text/event-stream') ? '' : await response.text()
  leave.abort()
  const error = response.status >= 400 ? (JSON.parse(text) as { error: string }).error : undefined
  return { status: response.status, headers: response.headers, type, text, error }
}
