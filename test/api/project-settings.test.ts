import { afterAll, beforeAll, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import { tinyServer } from '../support/repository.ts'
import { topics, readBlockText } from '../../server/help/topics.ts'
import { projectSettingsOperations } from '../../server/contract/project-settings.ts'
import { projectOperations } from '../../server/contract/projects.ts'
import { watchOperations } from '../../server/contract/previews.ts'
import { createApiContext, expectError, issuePaths, type ApiContext } from './api-context.ts'

let context: ApiContext
const path = '/instance/projects/set/settings'

beforeAll(async () => {
  context = await createApiContext()
  await context.platform.createProject({ slug: 'set', repo_url: context.repository.url })
})
afterAll(() => context.close())

const change = (body: object) => context.request('owner', 'PATCH', path, body)
const deploy = async () => context.platform.waitForEnd('set', (await context.platform.deploy('set')).id)

test('settings have defaults, and a change applies to its project only', async () => {
  const { status, body } = await context.request('member', 'GET', path)
  expect([status, body]).toEqual([
    200,
    {
      settings: {
        health_path: '/',
        health_timeout_s: 60,
        cpu_limit: null,
        preview_volumes: 'empty',
        watch_paths: [],
        public_ports: [],
        apps: [],
        tracing: true,
        replicas: 1,
        autoscaling: null,
        sticky_sessions: false,
        node_labels: [],
      },
      cpus: expect.any(Number),
    },
  ])
  expectError(await context.request('stranger', 'PATCH', path, { cpu_limit: 1 }), 404, 'project_not_found')
  const changed = await change({
    health_path: '/healthz?full=1',
    health_timeout_s: 600,
    cpu_limit: 0.5,
    preview_volumes: 'snapshot',
    watch_paths: [' apps/web/** ', '!**/*.md'],
    public_ports: [9090, 9091, 9090],
    apps: ['apps/web', 'apps/api', 'apps/web'],
    tracing: false,
    replicas: 3,
    autoscaling: { min: 2, max: 5, target_concurrency: 50 },
    sticky_sessions: true,
    node_labels: ['disk=ssd', 'zone=a.1'],
  })
  expect(changed.body.settings).toEqual({
    health_path: '/healthz?full=1',
    health_timeout_s: 600,
    cpu_limit: 0.5,
    preview_volumes: 'snapshot',
    watch_paths: ['apps/web/**', '!**/*.md'],
    public_ports: [9090, 9091],
    apps: ['apps/web', 'apps/api'],
    tracing: false,
    replicas: 3,
    autoscaling: { min: 2, max: 5, target_concurrency: 50 },
    sticky_sessions: true,
    node_labels: ['disk=ssd', 'zone=a.1'],
  })
  expect((await change({ cpu_limit: 256 })).body).toMatchObject({ settings: { cpu_limit: body.cpus } })
  expect(
    (
      await change({
        cpu_limit: null,
        health_timeout_s: 60,
        health_path: '/',
        preview_volumes: 'empty',
        watch_paths: [],
        public_ports: [],
        apps: [],
        tracing: true,
        replicas: 1,
        autoscaling: null,
        sticky_sessions: false,
        node_labels: [],
      })
    ).body,
  ).toEqual(body)
})

test('refuses invalid paths, times, CPU counts and patterns', async () => {
  for (const health_path of ['', 'healthz', '/a b', '/a#b', '/a\r\nHost: b', '/é', `/${'a'.repeat(300)}`])
    expect(issuePaths(await change({ health_path }))).toEqual(['health_path'])
  for (const port of [0, 65_536, 1.5, '9090', null]) expect(issuePaths(await change({ public_ports: [80, port] }))).toEqual(['public_ports.1'])
  expect(issuePaths(await change({ public_ports: Array.from({ length: 11 }, (_, index) => 9000 + index) }))).toEqual(['public_ports'])
  for (const health_timeout_s of [4, 601, 5.5, '60', null]) expect(issuePaths(await change({ health_timeout_s }))).toEqual(['health_timeout_s'])
  for (const cpu_limit of [0, 0.01, -1, 257, '1', true]) expect(issuePaths(await change({ cpu_limit }))).toEqual(['cpu_limit'])
  for (const pattern of ['', '#comment', '!', '!!a', 'a\nb', 'a'.repeat(201)])
    expect(issuePaths(await change({ watch_paths: ['a', pattern] }))).toEqual(['watch_paths.1'])
  expect(issuePaths(await change({ watch_paths: Array.from({ length: 51 }, () => 'a') }))).toEqual(['watch_paths'])
  expect(issuePaths(await change({ memory_limit_mb: 64 }))).toEqual(['memory_limit_mb'])
  for (const replicas of [0, 21, 1.5, '2', null]) expect(issuePaths(await change({ replicas }))).toEqual(['replicas'])
  const range = { min: 1, max: 2, target_concurrency: 20 }
  for (const [autoscaling, ...paths] of [
    [{ ...range, min: 0, max: 21 }, 'autoscaling.max', 'autoscaling.min'],
    [{ ...range, min: 3 }, 'autoscaling.max'],
    [{ ...range, target_concurrency: 1_001 }, 'autoscaling.target_concurrency'],
    [{ ...range, metric: 'cpu' }, 'autoscaling.metric'],
    [{ min: 1 }, 'autoscaling.max', 'autoscaling.target_concurrency'],
    [true, 'autoscaling'],
  ] as const)
    expect(issuePaths(await change({ autoscaling }))).toEqual(paths)
})

test('replicas beyond those of the plan are 402', async () => {
  const person = await context.addPerson('few-replicas@example.com', { plan: 'starter' })
  const slug = 'few-replicas'
  expect((await context.request(person, 'POST', '/v1/projects', { name: slug, slug })).status).toBe(201)
  const ask = (body: object) => context.request(person, 'PATCH', `/instance/projects/${slug}/settings`, body)
  expect((await ask({ replicas: 2 })).status).toBe(200)
  const refused = await ask({ replicas: 3 })
  expectError(refused, 402, 'plan_limit_reached')
  expect(refused.text).toContain('The plan starter runs at most 2 replicas of a service, and you asked for 3.')
  expectError(await ask({ autoscaling: { min: 1, max: 3, target_concurrency: 20 } }), 402, 'plan_limit_reached')
  expect((await ask({ autoscaling: { min: 1, max: 2, target_concurrency: 20 } })).status).toBe(200)
})

fullTest('a deployment requests the health check path until its timeout', async () => {
  context.repository.commit({
    'server.js': (tinyServer('two')['server.js'] ?? '').replace('response.end', "response.writeHead(request.url === '/ready?now' ? 204 : 500).end"),
  })
  await change({ health_path: '/ready?now' })
  expect(await deploy()).toMatchObject({ status: 'ready' })
  await change({ health_path: '/elsewhere', health_timeout_s: 5 })
  expect(await deploy()).toMatchObject({
    status: 'failed',
    error: { code: 'health_check_failed', message: 'The app responded to GET /elsewhere with 500 for 5 s.' },
  })
})

test('the help describes each setting', () => {
  const text = topics
    .find(({ id }) => id === 'project-settings')
    ?.body.map(readBlockText)
    .join(' ')
  const bodies = [projectOperations.updateProject.body, projectSettingsOperations.updateProjectSettings.body, watchOperations.updateWatching.body]
  for (const name of bodies.flatMap(({ shape }) => Object.keys(shape))) expect(text).toContain(`\`${name}\``)
})
