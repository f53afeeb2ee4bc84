import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import { deployment as deploymentSchema, deploymentDetail, type Deployment } from '../../server/contract/deployments.ts'
import { readEventStream, type ServerEvent } from '../support/event-stream.ts'
import { makeRepository, tinyServer } from '../support/repository.ts'
import { until } from '../support/platform.ts'
import { startDeployment, expectError, issuePaths, createApiContext, type ApiResponse, type ApiContext } from './api-context.ts'
import { z } from 'zod'

let context: ApiContext
beforeAll(async () => {
  context = await createApiContext()
})
afterAll(() => context.close())

const exactly = z.strictObject(deploymentSchema.shape)
const post = (path: string) => context.request('owner', 'POST', `/v1/projects/${path}`)
/** Id of the newest deployment of a project. */
async function newest(slug: string): Promise<string> {
  const { deployments } = (await context.request('owner', 'GET', `/v1/projects/${slug}/deployments?limit=1`)).body as { deployments: Deployment[] }
  return deployments[0]?.id ?? ''
}

const unknown = 'dpl_00000000000000000000000000'

/** The events of a stream until it ends or `enough` returns true. */
async function events(path: string, { enough, ...options }: { enough?: (list: ServerEvent[]) => boolean; last_event_id?: string } = {}) {
  const list: ServerEvent[] = []
  for await (const event of readEventStream(context.platform.handle.api_url + path, { token: context.platform.owner.token, ...options })) {
    list.push(event)
    if (enough?.(list)) break
  }
  return list
}
/** Only events from which a stream can be resumed. */
const numbered = async (...args: Parameters<typeof events>) => (await events(...args)).filter(({ id }) => id !== undefined)

const parsed = (list: ServerEvent[], name: string) =>
  list.filter(({ event }) => event === name).map(({ data }) => JSON.parse(data) as Record<string, unknown>)

describe('POST deploy', () => {
  test('201 with id, status and the whole deployment', async () => {
    await context.platform.createProject({ slug: 'deployed', repo_url: context.repository.url })
    const response = await post('deployed/deploy')
    expect(response.status).toBe(201)
    const { deployment_id, status, deployment } = response.body as { deployment_id: string; status: string; deployment: Deployment }
    expect(exactly.parse(deployment)).toMatchObject({
      id: deployment_id,
      status,
      target: 'production',
      trigger: 'manual',
      source: 'git',
      branch: 'main',
      parent_id: null,
      is_current: false,
      can_rollback: false,
      url: null,
      error: null,
      finished_at: null,
    })
    expect(deployment_id).toMatch(/^dpl_[0-9a-z]{26}$/)
    expect((await context.platform.getProject('deployed')).status).toBe('building')
    expect((await context.platform.waitForEnd('deployed', deployment_id)).status).toBe('ready')
    expect((await context.platform.getProject('deployed')).status).toBe('live')
  })

  test('400 without a repository, after 404', async () => {
    await context.platform.createProject({ slug: 'unlinked' })
    expectError(await post('unlinked/deploy'), 400, 'project_not_connected')
    expectError(await post('missing/deploy'), 404, 'project_not_found')
  })

  test('restarts a stopped project', async () => {
    expect((await post('deployed/stop')).body).toEqual({ ok: true, status: 'inactive' })
    expect((await context.platform.fetchEdge('deployed.localhost')).status).not.toBe(200)
    const { id } = await context.platform.deploy('deployed')
    await context.platform.waitForEnd('deployed', id)
    expect((await context.platform.getProject('deployed')).status).toBe('live')
    expect((await context.platform.fetchEdge('deployed.localhost')).body).toBe('one')
  })
})

describe('retry, rollback and cancel', () => {
  fullTest('retry builds the same commit again, as a child of the original', async () => {
    const repository = makeRepository(tinyServer('first'))
    await context.platform.createProject({ slug: 'again', repo_url: repository.url })
    const first = await context.platform.waitForEnd('again', (await context.platform.deploy('again')).id)
    repository.commit(tinyServer('second'))
    const response = await post(`again/deployments/${first.id}/retry`)
    expect(response.status).toBe(201)
    const retried = await context.platform.waitForEnd('again', response.body.deployment_id as string)
    expect(retried).toMatchObject({ status: 'ready', trigger: 'retry', parent_id: first.id, commit_sha: first.commit_sha, is_current: true })
    expect((await context.platform.fetchEdge('again.localhost')).body).toBe('first')
    repository.remove()
  })

  fullTest('rollback redeploys an earlier production deployment as a new one', async () => {
    const repository = makeRepository(tinyServer('old'))
    await context.platform.createProject({ slug: 'back', repo_url: repository.url })
    const old = await context.platform.waitForEnd('back', (await context.platform.deploy('back')).id)
    repository.commit(tinyServer('new'))
    const fresh = await context.platform.waitForEnd('back', (await context.platform.deploy('back')).id)
    expect((await context.platform.fetchEdge('back.localhost')).body).toBe('new')
    expect((await context.platform.getDeployment('back', old.id)).is_current).toBe(false)
    const response = await post(`back/deployments/${old.id}/rollback`)
    expect(response.status).toBe(201)
    const rolled = await context.platform.waitForEnd('back', response.body.deployment_id as string)
    expect(rolled).toMatchObject({ status: 'ready', trigger: 'rollback', parent_id: old.id, commit_sha: old.commit_sha, is_current: true })
    expect((await context.platform.fetchEdge('back.localhost')).body).toBe('old')
    expect((await context.platform.getDeployment('back', fresh.id)).is_current).toBe(false)
    repository.remove()
  })

  test('409 for a rollback to a deployment that was never ready', async () => {
    const repository = makeRepository({ 'package.json': '{"name":"x","scripts":{"build":"exit 3","start":"node x.js"}}', 'x.js': '' })
    await context.platform.createProject({ slug: 'broken', repo_url: repository.url })
    const failed = await context.platform.waitForEnd('broken', (await context.platform.deploy('broken')).id)
    expect(failed).toMatchObject({
      status: 'failed',
      can_rollback: false,
      error: { code: expect.any(String), message: expect.any(String), hint: expect.any(String) },
    })
    expectError(await post(`broken/deployments/${failed.id}/rollback`), 409, 'rollback_not_allowed')
    expect((await context.platform.getProject('broken')).status).toBe('failed')
    repository.remove()
  })

  test('cancel ends a running deployment, and is 409 once it has ended', async () => {
    const repository = makeRepository({ 'package.json': '{"name":"x","scripts":{"build":"sleep 600","start":"node x.js"}}', 'x.js': '' })
    await context.platform.createProject({ slug: 'slow', repo_url: repository.url })
    const { id } = await context.platform.deploy('slow')
    await until(async () => ((await context.platform.getDeployment('slow', id)).status === 'building' ? true : undefined), { what: 'the build' })
    const response = await post(`slow/deployments/${id}/cancel`)
    expect([response.status, response.body]).toEqual([200, { ok: true }])
    expect(await context.platform.waitForEnd('slow', id)).toMatchObject({ status: 'canceled', error: null })
    expectError(await post(`slow/deployments/${id}/cancel`), 409, 'deployment_terminal')
    repository.remove()
  })

  test('a newer deployment cancels an older queued one of the same branch', async () => {
    const repository = makeRepository({ 'package.json': '{"name":"x","scripts":{"build":"sleep 600","start":"node x.js"}}', 'x.js': '' })
    await context.platform.createProject({ slug: 'queue', repo_url: repository.url })
    const ids: string[] = []
    for (let i = 0; i < 3; i++) ids.push((await context.platform.deploy('queue')).id)
    const [first = '', second = '', third = ''] = ids
    expect((await context.platform.getDeployment('queue', second)).status).toBe('canceled')
    const last = await context.platform.getDeployment('queue', third)
    expect(['queued', 'building']).toContain(last.status)
    if (last.status === 'queued') expect(last.queue_position).toBe(1)
    for (const id of [third, first]) await post(`queue/deployments/${id}/cancel`)
    repository.remove()
  })

  test.each(['retry', 'cancel', 'rollback'])('404 for %s of an unknown deployment', async (verb) => {
    for (const id of [unknown, 'x', 'constructor', '1%20OR%201=1', '%F0%9F%92%A5'])
      expectError(await post(`deployed/deployments/${id}/${verb}`), 404, 'deployment_not_found')
  })
})

describe('GET deployments', () => {
  test('newest first, paginated, filtered', async () => {
    const ids: string[] = []
    await context.platform.createProject({ slug: 'listed', repo_url: context.repository.url })
    for (let i = 0; i < 4; i++) ids.unshift((await context.platform.waitForEnd('listed', (await context.platform.deploy('listed')).id)).id)
    const list = async (query: string) => {
      const response = await context.request('owner', 'GET', `/v1/projects/listed/deployments${query}`)
      expect(response.status).toBe(200)
      const { deployments, next_cursor } = response.body as { deployments: Deployment[]; next_cursor: string | null }
      for (const one of deployments) exactly.parse(one)
      return { ids: deployments.map(({ id }) => id), next_cursor, deployments }
    }
    expect(await list('')).toMatchObject({ ids, next_cursor: null })
    const page = await list('?limit=3')
    expect(page.ids).toEqual(ids.slice(0, 3))
    expect(await list(`?limit=3&cursor=${page.next_cursor}`)).toMatchObject({ ids: ids.slice(3), next_cursor: null })
    for (const path of ['/v1/projects', '/v1/tokens', '/v1/projects/listed/cache/log', '/v1/projects/deployed/deployments']) {
      const foreign = await context.request('owner', 'GET', `${path}?cursor=${page.next_cursor}`)
      expectError(foreign, 400, 'invalid_input')
      expect(issuePaths(foreign)).toEqual(['cursor'])
    }
    expect((await list('?status=ready&target=production&branch=main')).ids).toEqual(ids)
    expect((await list('?status=failed')).ids).toEqual([])
    expect((await list('?target=preview')).ids).toEqual([])
    expect((await list('?branch=other')).ids).toEqual([])
    expect(page.deployments.map(({ is_current }) => is_current)).toEqual([true, false, false])
  })

  test.each(['limit=0', 'status=done', 'target=all', 'cursor=x', 'branch=a&branch=b', `branch=${'x'.repeat(201)}`])('400 for %s', async (query) => {
    const response = await context.request('owner', 'GET', `/v1/projects/deployed/deployments?${query}`)
    expectError(response, 400, 'invalid_input')
    expect(issuePaths(response)).toEqual([query.split('=')[0]])
  })

  test('a single deployment has its log and its steps', async () => {
    const id = await newest('deployed')
    const detail = z
      .strictObject(deploymentDetail.shape)
      .parse((await context.request('owner', 'GET', `/v1/projects/deployed/deployments/${id}`)).body.deployment)
    expect(detail.build_log.trimEnd().split('\n')).toHaveLength(detail.build_log_lines)
    expect(detail.build_log_truncated).toBe(false)
    const { body } = await context.request('owner', 'GET', `/v1/projects/deployed/deployments/${id}?build_log=false`)
    expect(body.deployment).toEqual({ ...detail, build_log: '', build_log_truncated: true })
    expect(detail.steps.map(({ name }) => name)).toEqual(['clone', 'detect', 'install', 'build', 'start', 'health_check', 'route'])
    expect(detail.url).toMatch(/^http:\/\/deployed\.localhost:\d+/)
    for (const field of ['queued_ms', 'build_ms', 'deploy_ms'] as const) expect(detail[field]).toBeGreaterThanOrEqual(0)
  })
})

describe('the build log as a stream', () => {
  test('sends the status first, then the whole log, then the end', async () => {
    const { id } = await startDeployment(context, 'streamed')
    const list = await events(`/v1/projects/streamed/deployments/${id}/logs`)
    expect(list[0]?.event).toBe('status')
    expect(list.at(-1)).toMatchObject({ event: 'end', data: '{"status":"ready"}' })
    expect(list.map(({ event }) => event)).not.toContain('error')
    const lines = parsed(list, 'log')
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, i) => i + 1))
    for (const line of lines) expect(Object.keys(line).toSorted()).toEqual(['line', 'seq', 'step', 'stream', 'ts'])
    expect(parsed(list, 'status').at(-1)).toMatchObject({ status: 'ready', error: null })
    const steps = parsed(list, 'step')
    expect(steps).toContainEqual({ name: 'route', status: 'done', ts: expect.any(String) })

    // Read again after the end, with the same lines as in the deployment.
    const again = await events(`/v1/projects/streamed/deployments/${id}/logs`)
    expect(parsed(again, 'log')).toEqual(lines)
    const { build_log } = await context.platform.getDeployment('streamed', id)
    expect(lines.map(({ line }) => line)).toEqual(build_log.trimEnd().split('\n'))
  })

  test('resumes after the last event, by header or query, without a gap or a repeat; an unknown id replays everything', async () => {
    const id = await newest('streamed')
    const path = `/v1/projects/streamed/deployments/${id}/logs`
    const whole = await numbered(path)
    const half = Math.floor(whole.length / 2)
    const middle = whole[half]?.id ?? ''
    const rest = whole.slice(half + 1)
    expect(await numbered(path, { last_event_id: middle })).toEqual(rest)
    expect(await numbered(`${path}?last_event_id=${encodeURIComponent(middle)}`)).toEqual(rest)
    for (const foreign of ['garbage', '-1', '999999999999', `${unknown}.3`]) expect(await numbered(path, { last_event_id: foreign })).toEqual(whole)
  })
})

describe('the runtime log as a stream', () => {
  test('plain lines for a plain-text client, and app states by name', async () => {
    const list = await events('/v1/projects/streamed/runtime-logs', { enough: (all) => all.some(({ data }) => data === 'version one listens') })
    expect(list.find(({ data }) => data === 'version one listens')?.event).toBeUndefined()
    expect(list.every(({ event }) => event === undefined || event === 'state')).toBe(true)
  })

  test('JSON on request', async () => {
    const list = await events('/v1/projects/streamed/runtime-logs?format=json&lines=20', {
      enough: (all) => all.some(({ event }) => event === 'log'),
    })
    expect(parsed(list, 'log')[0]).toEqual({
      seq: expect.any(Number),
      ts: expect.any(String),
      stream: 'stdout',
      line: 'version one listens',
      deployment_id: expect.stringMatching(/^dpl_/),
    })
  })

  test.each(['lines=19', 'lines=2001', 'lines=x', 'format=xml'])('400 for %s', async (query) => {
    expectError(await context.request('owner', 'GET', `/v1/projects/streamed/runtime-logs?${query}`), 400, 'invalid_input')
  })

  test('stays open and waits for a project that was never deployed', async () => {
    await context.platform.createProject({ slug: 'silent' })
    const controller = new AbortController()
    const response = await fetch(`${context.platform.handle.api_url}/v1/projects/silent/runtime-logs`, {
      headers: { authorization: `Bearer ${context.tokens.owner}` },
      signal: controller.signal,
    })
    expect(response.status).toBe(200)
    controller.abort()
  })
})

describe('GET /instance/glances', () => {
  const look = (slugs: string, who: 'owner' | 'member' | 'stranger' = 'owner') => context.request(who, 'GET', `/instance/glances?slugs=${slugs}`)
  const glances = (response: ApiResponse) =>
    response.body.glances as { slug: string; latest: { id: string; status: string } | null; serving: { id: string } | null }[]

  test('the newest and the current deployment of each project; unknown projects and those of other accounts are omitted', async () => {
    const first = (await startDeployment(context, 'glanced')).id
    await context.platform.waitForEnd('glanced', first)
    await context.platform.createProject({ slug: 'glanced-bare' })
    const both = glances(await look('glanced,none,glanced-bare,glanced'))
    expect(both.map(({ slug }) => slug)).toEqual(['glanced', 'glanced-bare'])
    expect(both[0]).toMatchObject({ latest: { id: first, status: 'ready' }, serving: { id: first } })
    expect(both[1]).toEqual({ slug: 'glanced-bare', latest: null, serving: null })
    // In the same form as in the list of deployments.
    const { deployments } = (await context.request('owner', 'GET', '/v1/projects/glanced/deployments')).body as { deployments: unknown[] }
    expect(both[0]?.latest).toEqual(deployments[0])

    context.repository.commit({ 'package.json': 'not json' }, 'Break it')
    const { deployment_id } = (await context.request('owner', 'POST', '/v1/projects/glanced/deploy')).body as { deployment_id: string }
    await context.platform.waitForEnd('glanced', deployment_id)
    expect(glances(await look('glanced'))[0]).toMatchObject({ latest: { id: deployment_id, status: 'failed' }, serving: { id: first } })
    expect(glances(await look('glanced', 'member'))).toHaveLength(1)
    expect(glances(await look('glanced', 'stranger'))).toEqual([])
  })

  test.each(['', Array.from({ length: 61 }, (_, n) => `project-${n}`).join(',')])('400 for no slug and for too many', async (slugs) => {
    expectError(await look(slugs), 400, 'invalid_input')
  })
})
