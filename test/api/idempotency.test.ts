/** Idempotency keys on a whole platform; the rules of the API server are in test/http/idempotency.test.ts. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import { type TestPlatform, startTestPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'
import { makeRepository, tinyServer } from '../support/repository.ts'

const data_dir = mkdtempSync(join(tmpdir(), 'homeport-data-'))
const repository = makeRepository(tinyServer('once'))
let platform: TestPlatform

beforeAll(async () => {
  platform = await startTestPlatform({ runtime: 'process', data_dir })
})
afterAll(async () => {
  await platform?.remove()
  repository.remove()
  rmSync(data_dir, { recursive: true, force: true })
})

async function post(key: string, path: string, body?: unknown) {
  const response = await fetch(platform.handle.api_url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${platform.handle.instance.token}`, 'content-type': 'application/json', 'idempotency-key': key },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, replayed: response.headers.get('idempotency-replayed'), text: await response.text() }
}

test('a repeated creation makes one project; ten concurrent deploy requests make one deployment', async () => {
  const input = { name: 'Once', slug: 'once', repo_url: repository.url }
  const first = await post('create', '/v1/projects', input)
  expect([first.status, first.replayed]).toEqual([201, null])
  expect(await post('create', '/v1/projects', input)).toEqual({ ...first, replayed: 'true' })

  const answers = await Promise.all(Array.from({ length: 10 }, () => post('deploy', '/v1/projects/once/deploy')))
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201))
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  const { body } = await platform.api<{ deployments: { id: string }[] }>('GET', '/v1/projects/once/deployments')
  expect(body.deployments.map(({ id }) => id)).toEqual([(JSON.parse(answers[0]?.text ?? '{}') as { deployment_id: string }).deployment_id])
})

fullTest('keys survive a restart', async () => {
  const first = await post('before', '/v1/tokens', { name: 'kept' })
  expect(first.status).toBe(201)
  await platform.handle.stop()
  platform = await startTestPlatform({ runtime: 'process', data_dir })
  // Another token of the same user, because each run has its own.
  expect(await post('before', '/v1/tokens', { name: 'kept' })).toEqual({ ...first, replayed: 'true' })
  expect((await post('before', '/v1/tokens', { name: 'other' })).status).toBe(409)
  const { body } = await platform.api<{ api_tokens: unknown[] }>('GET', '/v1/tokens')
  expect(body.api_tokens).toHaveLength(1)
})

/** Every atomic creation; `made` lists the existing resources by a name that the creation sets. */
const creations = [
  {
    path: '/v1/projects',
    body: (n: number) => ({ name: `p${n}`, slug: `killed-${n}` }),
    list: '/v1/projects?limit=100',
    name: (n: number) => `killed-${n}`,
  },
  { path: '/v1/tokens', body: (n: number) => ({ name: `token-${n}` }), list: '/v1/tokens?limit=100', name: (n: number) => `token-${n}` },
  {
    path: '/v1/projects/once/env-vars',
    body: (n: number) => ({ key: `KEY_${n}`, value: 'v' }),
    list: '/v1/projects/once/env-vars',
    name: (n: number) => `KEY_${n}`,
  },
  {
    path: '/v1/projects/once/domains',
    body: (n: number) => ({ hostname: `d${n}.example.org` }),
    list: '/v1/projects/once/domains',
    name: (n: number) => `d${n}.example.org`,
  },
]

/** `http/idempotency.test.ts` has the rules by default, `platform/kill.test.ts` what the store keeps. */
fullTest(
  'after kill -9 in mid-request each retry replays the result or executes the request once',
  async () => {
    const deploy = { path: '/v1/projects/once/deploy', body: () => undefined }
    const [rounds, each] = [200, 2]
    for (let round = 0, n = 0; round < rounds; round++) {
      const requests = Array.from({ length: each }, () => [...creations, deploy].map((one) => ({ ...one, n: n++ }))).flat()
      const firsts: string[] = []
      const answers = requests.map(({ path, body, n: of }, index) =>
        post(`killed-${of}`, path, body(of)).then(
          (first) => void (firsts[index] = first.text),
          () => {},
        ),
      )
      await until(() => firsts.filter(Boolean).length > round % 8 || undefined, { what: 'the first answers' })
      await platform.kill()
      await Promise.all(answers)
      platform = await startTestPlatform({ runtime: 'process', data_dir })
      for (const [index, { path, body, n: of }] of requests.entries()) {
        const retry = await post(`killed-${of}`, path, body(of))
        expect([path, retry.status, retry.text]).toEqual([path, 201, firsts[index] ?? retry.text])
        expect(await post(`killed-${of}`, path, body(of))).toEqual({ ...retry, replayed: 'true' })
      }
      for (const { list, path, name } of creations) {
        const { body } = await platform.api('GET', list)
        const text = JSON.stringify(body)
        for (const one of requests.filter((other) => other.path === path)) expect(text.split(`"${name(one.n)}"`).length - 1).toBe(1)
      }
    }
  },
  3_600_000,
)
