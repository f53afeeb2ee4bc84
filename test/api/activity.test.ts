import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { activitySentence } from '../../server/contract/activity-sentences.ts'
import type { ActivityEntry } from '../../server/contract/activity.ts'
import { limits } from '../../server/contract/limits.ts'
import { commitToBranch, waitForFirstCheck, waitForPreview } from '../support/git-branches.ts'
import { readEventStream } from '../support/event-stream.ts'
import { startTestPlatform } from '../support/platform.ts'
import { makeRepository } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { type ApiContext, type Caller, createApiContext, expectError } from './api-context.ts'

let context: ApiContext
const repository = makeRepository({ 'index.html': '<h1>main</h1>' })

beforeAll(async () => {
  context = await createApiContext()
})
afterAll(async () => {
  await context.close()
  repository.remove()
})

type Who = Caller | { token: string }
async function list(who: Who, path: string): Promise<ActivityEntry[]> {
  const response = await context.request(who, 'GET', path)
  expect([path, response.status]).toEqual([path, 200])
  return response.body.entries as ActivityEntry[]
}
const ofProject = (slug: string, query = '') => list('owner', `/instance/projects/${slug}/activity${query}`)
const actions = (entries: ActivityEntry[]) => entries.map(({ action }) => action)

describe('GET activity', () => {
  test('200 with who changed what, newest first: names, never values', async () => {
    await context.platform.createProject({ slug: 'act' })
    const vars = [
      { key: 'API_KEY', value: 'secret-value-1' },
      { key: 'MODE', value: 'secret-value-2' },
    ]
    await context.request('owner', 'POST', '/v1/projects/act/env-vars', { vars })
    await context.request('member', 'PATCH', '/v1/projects/act', { name: 'Renamed', caching_enabled: false })
    const { body } = await context.request('owner', 'POST', '/v1/projects/act/domains', { hostname: 'act.example.com' })
    const { id } = body.domain as { id: string }
    await context.request('owner', 'DELETE', `/v1/domains/${id}`)
    const entries = await ofProject('act')
    const me = context.platform.owner.user.id
    expect(entries.slice(0, 4).map((entry) => activitySentence(entry, me))).toEqual([
      'You removed the domain act.example.com',
      'You added the domain act.example.com',
      'Token First token changed 2 settings (name, caching_enabled) of the project',
      'You set 2 variables (API_KEY, MODE)',
    ])
    expect(entries[0]).toMatchObject({ project: { slug: 'act' }, target: { id, name: 'act.example.com' }, client_ip: '127.0.0.0', via: 'api' })
    expect(entries[0]?.request_id).toMatch(/^req_/)
    expect(JSON.stringify(entries)).not.toContain('secret-value')
  })

  test('a failed request adds nothing', async () => {
    const before = await ofProject('act')
    expectError(await context.request('owner', 'PATCH', '/v1/projects/act', { name: '' }), 400, 'invalid_input')
    expectError(await context.request('owner', 'POST', '/v1/projects/act/deploy'), 400, 'project_not_connected')
    expect(await ofProject('act')).toEqual(before)
  })

  test('pages with a cursor, without gap or repeat', async () => {
    const all = await ofProject('act')
    const seen: ActivityEntry[] = []
    let cursor = ''
    do {
      const { body } = await context.request('owner', 'GET', `/instance/projects/act/activity?limit=2${cursor}`)
      seen.push(...(body.entries as ActivityEntry[]))
      cursor = typeof body.next_cursor === 'string' ? `&cursor=${body.next_cursor}` : ''
    } while (cursor !== '')
    expect(seen).toEqual(all)
    expectError(await context.request('owner', 'GET', '/instance/activity?cursor=bogus'), 400, 'invalid_input')
  })

  test('filters by project, actor, action and time', async () => {
    expect(actions(await ofProject('act', '?action=domain.'))).toEqual(['domain.deleted', 'domain.added'])
    expect(actions(await ofProject('act', '?actor=token'))).toEqual(['project.updated'])
    expect(actions(await list('owner', '/instance/activity?project=act&action=env_vars.set'))).toEqual(['env_vars.set'])
    const [newest] = await ofProject('act')
    expect(await ofProject('act', `?until=${newest?.time}&action=domain.deleted`)).toEqual([])
    expect(actions(await ofProject('act', `?since=${newest?.time}&action=domain.deleted`))).toEqual(['domain.deleted'])
    expectError(await context.request('owner', 'GET', '/instance/activity?action=%25'), 400, 'invalid_input')
    expectError(await context.request('owner', 'GET', '/instance/activity?actor=robot'), 400, 'invalid_input')
  })

  test('a team sees the projects, its owner the account, and only the owner of the instance what belongs to no account', async () => {
    const { settings } = (await context.request('owner', 'GET', '/instance/settings')).body as { settings: { keep_deployments: number } }
    await context.request('owner', 'PATCH', '/instance/settings', { keep_deployments: settings.keep_deployments })
    await context.request('owner', 'POST', '/v1/tokens', { name: 'for activity' })
    await context.request('stranger', 'POST', '/v1/tokens', { name: 'of the stranger' })
    const [owner, member, stranger] = await Promise.all(
      (['owner', 'member', 'stranger'] as const).map((who) => list(who, '/instance/activity?limit=100')),
    )
    expect(actions(owner ?? [])).toEqual(expect.arrayContaining(['settings.updated', 'token.created', 'env_vars.set']))
    expect(actions(member ?? [])).toContain('env_vars.set')
    expect(actions(member ?? [])).not.toContain('settings.updated')
    expect((member ?? []).filter(({ project }) => project === null)).toEqual([])
    expect(actions(stranger ?? [])).toEqual(['token.created'])
    expectError(await context.request('stranger', 'GET', '/instance/projects/act/activity'), 404, 'project_not_found')
  })

  test('a token with a project sees that project; a token is an actor with its name', async () => {
    await context.platform.createProject({ slug: 'act-other' })
    const { body } = await context.request('owner', 'POST', '/instance/tokens', { name: 'ci', scope: 'deploy', project: 'act' })
    const ci = { token: String(body.token) }
    await context.request(ci, 'POST', '/v1/projects/act/env-vars', { key: 'FROM_CI', value: 'x' })
    const entries = await list(ci, '/instance/activity?limit=100')
    expect(new Set(entries.map(({ project }) => project?.slug))).toEqual(new Set(['act']))
    expect(entries[0]).toMatchObject({ actor: { kind: 'token', name: 'ci', email: context.platform.owner.user.email }, action: 'env_vars.set' })
  })

  test('the names of what is gone stay: a deleted token, user and project', async () => {
    const { body } = await context.request('owner', 'POST', '/v1/tokens', { name: 'short-lived' })
    await context.request('owner', 'DELETE', `/v1/tokens/${(body.api_token as { id: string }).id}`)
    await context.platform.createProject({ slug: 'act-gone' })
    await context.request('owner', 'DELETE', '/v1/projects/act-gone')
    const entries = await list('owner', '/instance/activity?limit=10')
    expect(entries.find(({ action }) => action === 'token.revoked')?.target?.name).toBe('short-lived')
    const ofGone = actions(await list('owner', '/instance/activity?project=act-gone'))
    expect([ofGone[0], ofGone.at(-1)]).toEqual(['project.deleted', 'project.created'])
    await context.platform.createProject({ slug: 'act-gone' })
    expect(actions(await ofProject('act-gone'))).not.toContain('project.deleted')
  })
})

describe('without a request', () => {
  test('a push, its deployment, and the end of its preview', async () => {
    await context.platform.createProject({ slug: 'act-push', repo_url: repository.url, pushes: true })
    await waitForFirstCheck(context.platform, 'act-push')
    const sha = commitToBranch(repository.folder, 'tides', { 'index.html': '<h1>tides</h1>' })
    await waitForPreview(context.platform, 'act-push', 'tides', sha)
    await context.request('owner', 'PATCH', '/instance/projects/act-push/watching', { previews: false })
    const entries = await until(
      async () => {
        const found = await ofProject('act-push')
        return found.some(({ action }) => action === 'preview.closed') ? found : undefined
      },
      { what: 'the preview to be closed' },
    )
    expect(
      entries.map(({ action, actor, details }) => [action, actor.kind, details.branch]).filter(([action]) => !String(action).startsWith('project')),
    ).toEqual([
      ['preview.closed', 'schedule', 'tides'],
      ['deployment.ready', 'push', 'tides'],
      ['deployment.created', 'push', 'tides'],
    ])
    expect(entries.find(({ action }) => action === 'deployment.ready')?.details.commit_sha).toBe(sha)
  })

  test('a purge by webhook is a push', async () => {
    const { body } = await context.request('owner', 'POST', '/v1/projects/act/cache/token')
    const response = await fetch(`${context.platform.handle.api_url}/hooks/cache/act`, {
      method: 'POST',
      headers: { 'x-purge-token': String(body.token) },
    })
    expect(response.status).toBe(200)
    expect((await ofProject('act')).slice(0, 2).map(({ action, actor }) => [action, actor.kind])).toEqual([
      ['cache.purged', 'push'],
      ['purge_token.created', 'user'],
    ])
  })
})

describe('the inbox', () => {
  const inbox = async (who: Who) =>
    (await context.request(who, 'GET', '/instance/activity/inbox')).body as unknown as { entries: ActivityEntry[]; unread: number }

  test('has outcomes and changes by others, and is read for the user in every browser', async () => {
    const before = await inbox('owner')
    if (before.entries[0]) await context.request('owner', 'POST', '/instance/activity/read', { id: before.entries[0].id })
    await context.request('owner', 'PATCH', '/v1/projects/act', { name: 'Mine' })
    await context.request('member', 'PATCH', '/v1/projects/act', { name: 'Theirs' })
    const now = await inbox('owner')
    expect([now.unread, now.entries[0]?.actor.email]).toEqual([1, 'member@example.com'])
    expect((await context.request('owner', 'POST', '/instance/activity/read', { id: now.entries[0]?.id })).status).toBe(204)
    expect((await inbox('owner')).unread).toBe(0)
    // An older one does not make newer ones unread.
    await context.request('owner', 'POST', '/instance/activity/read', { id: now.entries.at(-1)?.id })
    expect((await inbox('owner')).unread).toBe(0)
    expect((await inbox('member')).unread).toBeGreaterThan(0)
  })

  test('400 for an entry that the user may not see', async () => {
    const [entry] = await ofProject('act')
    expectError(await context.request('stranger', 'POST', '/instance/activity/read', { id: entry?.id }), 400, 'invalid_input')
    expectError(await context.request('owner', 'POST', '/instance/activity/read', { id: 'act_none' }), 400, 'invalid_input')
  })
})

test('entries are on the stream of the instance for those who may see them', async () => {
  const leave = new AbortController()
  const follow = async (token: string | null, found: string[]) => {
    try {
      for await (const { event, data } of readEventStream(`${context.platform.handle.api_url}/instance/events`, {
        token: token ?? '',
        signal: leave.signal,
      }))
        if (event === 'activity') found.push((JSON.parse(data) as { entry: ActivityEntry }).entry.action)
    } catch {
      // Left.
    }
  }
  const [mine, theirs]: [string[], string[]] = [[], []]
  const readers = [follow(context.tokens.member, mine), follow(context.tokens.stranger, theirs)]
  await until(
    async () => {
      await context.request('owner', 'POST', '/v1/projects/act/stop')
      return mine.includes('project.stopped') || undefined
    },
    { what: 'the entry on the stream' },
  )
  await context.request('stranger', 'POST', '/v1/tokens', { name: 'on the stream' })
  await until(() => theirs.length > 0 || undefined, { what: 'the entry of the stranger' })
  expect(new Set(theirs)).toEqual(new Set(['token.created']))
  leave.abort()
  await Promise.all(readers)
})

test('the hourly job deletes entries after their time, by the clock of the instance', async () => {
  const platform = await startTestPlatform({ runtime: 'process' })
  try {
    await platform.createProject({ slug: 'long-ago' })
    const count = async () => {
      const { body } = await platform.api<{ entries: ActivityEntry[] }>('GET', '/instance/activity?project=long-ago')
      return body.entries.length
    }
    expect(await count()).toBeGreaterThan(0)
    await platform.jump((limits.activity.days + 1) * 86_400_000)
    await until(async () => (await count()) === 0 || undefined, { what: 'the retention' })
  } finally {
    await platform.remove()
  }
})
