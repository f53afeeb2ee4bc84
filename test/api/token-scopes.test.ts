import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TokenScope } from '../../server/contract/token-scopes.ts'
import { allOperations } from '../../server/contract/index.ts'
import type { OperationSpec } from '../../server/contract/operation.ts'
import type { ScopedToken } from '../../server/contract/tokens.ts'
import { createApiContext, expectError, type ApiContext } from './api-context.ts'
import { isFullTier } from '../support/tier.ts'

const words = (text: string): string[] => text.trim().split(/\s+/)

/** The scope that each operation needs, written by hand: a new operation fails until it is listed here. */
const expectedScopes: Record<TokenScope, string[]> = {
  read: words(`
    listProjects getProject findProjects getProjectSettings listScalingDecisions listGlances listSparklines getInstanceUsage getMetrics getSession listEnvVarKeys
    followInstance listCacheEvents listDeployments getDeployment planRollback streamBuildLog streamRuntimeLog downloadRuntimeLog downloadBuildLog
    getScreenshot listPreviews getWatching listForks listDevSessions planProject getBillingStatus listDomains getDomain
    listProjectDomains searchDomains listDatabaseDumps getDatabaseUpgrade describeDatabase listServices streamServiceLog listCronRuns
    listManagedServices listRegistries getMail listVolumes listVolumeFiles listUnsavedFiles listRequests streamRequests getRequest
    listTraces getTrace getTraceSpan searchLogs listLogLines
    getRequestCapture
    listActivity listProjectActivity getActivityInbox markActivityRead
    listNotificationDeliveries listAccountNotificationDeliveries listDeployHooks
    getProjectMetrics listRoutes
  `),
  deploy: words(`
    createProject stopProject deployProject createDeployment deployFolder uploadProject uploadCommit retryDeployment cancelDeployment
    rollbackDeployment clearBuildCache createCommand forkEnvironment checkRepository deploySkippedPush purgeAll purgeTags purgeUrls
    inspectCache createEnvVars createProjectEnvVars updateEnvVar updateProjectEnvVar dumpDatabase renameDatabaseDump restartService runCronService
    addManagedService addVolume createVolumeSnapshot dismissUnsavedFiles verifyDomain createDevSession updateDevSession
    followDevSession endDevSession planRepository planFolder saveFolderPlan
  `),
  admin: words(`
    updateProject deleteProject updateProjectSettings updateWatching removeFork createPurgeToken downloadSource listEnvVars
    listProjectEnvVars deleteEnvVar changeProjectEnvVars addRegistry removeRegistry createDatabase getDatabase findDatabase deleteDatabase
    downloadDatabaseDump restoreDatabase importDatabase deleteDatabaseDump listEveryDatabaseDump upgradeDatabase revertDatabaseUpgrade
    finishDatabaseUpgrade listDatabaseRows queryDatabase cancelDatabaseQuery explainDatabaseQuery changeDatabaseRows createSetupIntent confirmBilling cancelBilling addDomain deleteDomain purchaseDomain transferDomain
    createToken listTokens revokeToken createScopedToken listScopedTokens createSignInLink signOut sendVerification doctor getSettings
    updateSettings listUsers addUser verifyUser removeUser addTeamMember removeTeamMember getTeam createInvitation revokeInvitation
    acceptInvitation removeMember leaveTeam createVerificationLink getHttps getPublicNames trustAuthority removeAuthority getHostsFile getLan
    createSetupCode setOwnerPassword getDisk cleanDisk listBackups createBackup downloadBackup deleteBackup listRemotes addRemote
    updateRemote deleteRemote removeManagedService updateMail getMailMessage downloadMailMessage downloadMailAttachment
    deleteMailMessage deleteMailMessages detachVolume restoreVolume downloadVolume uploadVolume downloadVolumeFile deleteVolume
    deleteVolumeSnapshot startRequestCapture stopRequestCapture getCapturedRequest replayRequest
    listNotificationTargets createNotificationTarget updateNotificationTarget deleteNotificationTarget
    testNotificationTarget redeliverNotification listAccountNotificationTargets createAccountNotificationTarget
    updateAccountNotificationTarget deleteAccountNotificationTarget testAccountNotificationTarget redeliverAccountNotification
    createDeployHook deleteDeployHook
    listLogDrains createLogDrain updateLogDrain deleteLogDrain testLogDrain
    listNodes updateNode removeNode createJoinToken balanceNodes
    listStandbys readChanges copyDatabase listReplicatedParts copyPart
  `),
}
/** Without a project in their path, and yet open to a token that is limited to one. */
const limitedLists = [
  'listProjects',
  'findProjects',
  'listGlances',
  'listSparklines',
  'followInstance',
  'getSession',
  'listDomains',
  'deployFolder',
  'listActivity',
  'searchLogs',
  'getActivityInbox',
]

const scopes = ['read', 'deploy', 'admin'] as const
const scopeByOperation = new Map(scopes.flatMap((scope) => expectedScopes[scope].map((id) => [id, scope] as const)))
const everything = Object.entries(allOperations) as [string, OperationSpec][]

let context: ApiContext
/** Tokens of somebody who does not own the instance, for whom nothing there has an effect, and of its owner. */
const tokens = { person: new Map<TokenScope, string>(), owner: new Map<TokenScope, string>() }

async function createToken(maker: string, body: object) {
  const response = await context.request({ token: maker }, 'POST', '/instance/tokens', { name: 'scoped', ...body })
  expect([response.status, response.text]).toEqual([201, response.text])
  return response.body as unknown as { token: string; api_token: ScopedToken }
}

beforeAll(async () => {
  context = await createApiContext()
  const person = await context.addPerson('scopes@example.com')
  for (const scope of scopes) {
    tokens.person.set(scope, (await createToken(person.token, { scope })).token)
    tokens.owner.set(scope, (await createToken(context.platform.owner.token, { scope })).token)
  }
  for (const slug of ['mine', 'other']) await context.platform.createProject({ slug })
})
afterAll(() => context.close())

const fill = (path: string, slug: string) =>
  path
    .replace('{slug}', slug)
    .replace('{variant}', 'desktop')
    .replaceAll(/\{\w+\}/g, 'none')

/** Only the head of a stream is read. */
async function call(token: string, { method, body }: OperationSpec, path: string): Promise<{ status: number; error: string | undefined }> {
  const leave = new AbortController()
  const init: RequestInit = { method, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' }, signal: leave.signal }
  if (body) init.body = '{}'
  const response = await fetch(context.platform.handle.api_url + path, init)
  const { error } = response.status >= 400 ? ((await response.json()) as { error: string }) : { error: undefined }
  leave.abort()
  return { status: response.status, error }
}

test('the list names every operation once', () => {
  const listed = scopes.flatMap((scope) => expectedScopes[scope])
  expect(listed.toSorted()).toEqual(everything.map(([id]) => id).toSorted())
})

describe('every operation with every scope: 403 insufficient_scope unless the scope includes it', () => {
  test.each(everything)('%s', async (id, spec) => {
    const required = scopeByOperation.get(id) ?? 'admin'
    const targets = [
      { who: tokens.person, path: spec.path },
      { who: tokens.person, path: spec.path.replace(/^\/v1/, '') },
      { who: tokens.owner, path: `/remote/none${spec.path}` },
    ]
    // By default the decisive scopes only: the one that it needs, and the highest that is not enough; at its other paths, one of them.
    const needed = scopes.indexOf(required)
    const asked = isFullTier ? scopes : scopes.slice(Math.max(0, needed - 1), needed + 1)
    for (const scope of asked) {
      for (const { who, path } of isFullTier || scope === asked[0] ? targets : targets.slice(0, 1)) {
        const { status, error } = await call(who.get(scope) ?? '', spec, fill(path, 'none'))
        const cell = `${scope} ${spec.method} ${path}`
        if (scopes.indexOf(scope) < scopes.indexOf(required)) expect([cell, status, error]).toEqual([cell, 403, 'insufficient_scope'])
        else expect([cell, error]).not.toEqual([cell, 'insufficient_scope'])
      }
    }
  })

  test('the message names both scopes', async () => {
    const response = await context.request({ token: tokens.person.get('read') ?? '' }, 'POST', '/v1/projects/none/deploy')
    expectError(response, 403, 'insufficient_scope')
    expect(response.body.message).toBe('This needs a token with the scope “deploy”. The scope of this token is “read”.')
  })

  test('a token without a scope, and one of /v1, may do what its user may', async () => {
    const { token, api_token } = await createToken(context.platform.owner.token, {})
    expect(api_token).toMatchObject({ scope: null, project: null, expires_at: null })
    const { body } = await context.request({ token }, 'POST', '/v1/tokens', { name: 'of v1' })
    expect(Object.keys(body.api_token as object).toSorted()).toEqual(['created_at', 'expires_at', 'id', 'last4', 'last_used_at', 'name', 'prefix'])
    expect((await context.request({ token: String(body.token) }, 'GET', '/instance/settings')).status).toBe(200)
  })
})

describe('a token with a project', () => {
  let limited: string
  beforeAll(async () => {
    limited = (await createToken(context.platform.owner.token, { scope: 'admin', project: 'mine' })).token
  })
  const ask = (method: string, path: string, body?: unknown) => context.request({ token: limited }, method, path, body)

  test.each(everything.filter(([, { path }]) => path.includes('{slug}')))('%s: another project does not exist', async (_id, spec) => {
    const askFor = (slug: string) => ask(spec.method, fill(spec.path, slug), spec.body && {})
    const [other, missing] = [await askFor('other'), await askFor('none')]
    expectError(other, 404, 'project_not_found')
    expect(other.text.replace(String(other.body.request_id), '')).toBe(missing.text.replace(String(missing.body.request_id), ''))
  })

  test.each(everything.filter(([, spec]) => !spec.path.includes('{slug}') && spec.resource !== 'domain'))(
    '%s: refused unless it shows that project only',
    async (id, spec) => {
      const { status, error } = await call(limited, spec, fill(spec.path, ''))
      if (limitedLists.includes(id)) expect([id, error]).not.toEqual([id, 'insufficient_scope'])
      else expect([id, status, error]).toEqual([id, 403, 'insufficient_scope'])
      expect(await call(limited, spec, `/remote/none${fill(spec.path, '')}`)).toEqual({ status: 403, error: 'insufficient_scope' })
    },
  )

  test('lists show that project only, and it can be changed', async () => {
    const slugs = async (path: string) => ((await ask('GET', path)).body.projects as { slug: string }[]).map(({ slug }) => slug)
    expect(await slugs('/v1/projects')).toEqual(['mine'])
    expect(await slugs('/instance/projects?q=e')).toEqual(['mine'])
    expect((await ask('GET', '/instance/glances?slugs=mine,other')).text).not.toContain('other')
    expect((await ask('PATCH', '/v1/projects/mine', { name: 'Changed' })).body.project).toMatchObject({ name: 'Changed' })
  })

  test('domains of other projects do not exist', async () => {
    const { body } = await context.request('owner', 'POST', '/v1/projects/other/domains', { hostname: 'other.example.com' })
    const { id } = body.domain as { id: string }
    expect((await ask('GET', '/v1/domains')).body.domains).toEqual([])
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/verify'],
      ['DELETE', ''],
      ['POST', '/transfer'],
    ] as const)
      expectError(await ask(method, `/v1/domains/${id}${path}`), 404, 'domain_not_found')
    const taken = await ask('POST', '/v1/projects/mine/domains', { hostname: 'other.example.com' })
    expectError(taken, 409, 'hostname_taken')
    expect(taken.body.message).not.toContain('project other')
  })

  test('a folder is deployed to no other project, whether it exists or not', async () => {
    for (const slug of ['other', 'none'])
      expectError(await ask('POST', '/instance/deploy-folder', { path: context.repository.folder, slug }), 404, 'project_not_found')
  })

  test('the list of tokens names scope and project; an unknown project is a 404', async () => {
    const { body } = await context.request('owner', 'GET', '/instance/tokens')
    expect((body.api_tokens as ScopedToken[])[0]).toMatchObject({ scope: 'admin', project: { slug: 'mine' } })
    expect((await context.request('owner', 'GET', '/v1/tokens')).text).not.toContain('"scope"')
    expectError(await context.request('stranger', 'POST', '/instance/tokens', { name: 'x', project: 'mine' }), 404, 'project_not_found')
    expectError(await context.request('owner', 'POST', '/instance/tokens', { name: 'x', scope: 'write' }), 400, 'invalid_input')
  })

  test('it ends with its project', async () => {
    await context.platform.createProject({ slug: 'brief' })
    const { token } = await createToken(context.platform.owner.token, { project: 'brief' })
    expect((await context.request({ token }, 'DELETE', '/v1/projects/brief')).status).toBe(204)
    await context.platform.createProject({ slug: 'brief' })
    expectError(await context.request({ token }, 'GET', '/v1/projects/brief'), 401, 'unauthorized')
  })
})

test('an expired token is 401 like an unknown one, and its stream ends', async () => {
  const { token } = await createToken(context.platform.owner.token, { scope: 'read', expires_in_days: 1 })
  const stream = await fetch(`${context.platform.handle.api_url}/v1/projects/mine/runtime-logs`, { headers: { authorization: `Bearer ${token}` } })
  expect(stream.status).toBe(200)
  await context.platform.jump(24 * 3600_000 + 1)
  expectError(await context.request({ token }, 'GET', '/v1/projects'), 401, 'unauthorized')
  await context.platform.advance(5_000)
  await stream.text()
})
