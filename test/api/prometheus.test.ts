import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { histogramSamples, formatPrometheusText } from '../../server/lib/prometheus-text.ts'
import { parsePrometheus, type ParsedMetric } from '../support/parse-prometheus.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { createApiContext, type ApiContext } from './api-context.ts'

let context: ApiContext
let repository: Repository
beforeAll(async () => {
  context = await createApiContext()
  repository = makeRepository({
    'package.json': JSON.stringify({ name: 'scraped', private: true, scripts: { start: 'node server.js' } }),
    'server.js': `require('node:http').createServer((request, response) => {
      response.writeHead(Number(request.url.slice(1)) || 200)
      response.end('x'.repeat(100))
    }).listen(process.env.PORT, '127.0.0.1')`,
  })
  for (const slug of ['scraped', 'other']) await context.platform.createProject({ slug, repo_url: repository.url })
  await context.platform.waitForEnd('scraped', (await context.platform.deploy('scraped')).id)
})
afterAll(async () => {
  await context.close()
  repository.remove()
})

const createToken = async (body: object, maker = context.platform.owner.token): Promise<string> =>
  String((await context.request({ token: maker }, 'POST', '/instance/tokens', { name: 'prometheus', ...body })).body.token)

const get = (headers: Record<string, string>) => fetch(`${context.platform.handle.api_url}/metrics`, { headers })

async function scrape(token: string): Promise<Map<string, ParsedMetric>> {
  const response = await get({ authorization: `Bearer ${token}` })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  const text = await response.text()
  return text === '' ? new Map() : parsePrometheus(text)
}
const valueOf = (metrics: Map<string, ParsedMetric>, name: string, labels: Record<string, string>): number | undefined =>
  metrics
    .get(name.replace(/_(bucket|sum|count)$/, ''))
    ?.samples.find((sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value))?.value
const projectsIn = (metrics: Map<string, ParsedMetric>) =>
  [...new Set([...metrics.values()].flatMap(({ samples }) => samples.flatMap(({ labels }) => labels.project ?? [])))].toSorted()

describe('GET /metrics', () => {
  test('counts requests, durations, bytes, the cache, deployments and builds; counters only grow', async () => {
    const token = await createToken({ scope: 'read' })
    const before = await scrape(token)
    const risen = (after: Map<string, ParsedMetric>, name: string, labels: Record<string, string> = {}) =>
      (valueOf(after, name, { project: 'scraped', ...labels }) ?? 0) - (valueOf(before, name, { project: 'scraped', ...labels }) ?? 0)
    for (const path of ['/', '/', '/404', '/500']) await context.platform.fetchEdge('scraped.localhost', path)
    const after = await scrape(token)
    expect(['2xx', '4xx', '5xx', '1xx'].map((code_class) => risen(after, 'homeport_requests_total', { code_class }))).toEqual([2, 1, 1, 0])
    expect(risen(after, 'homeport_request_duration_seconds_count')).toBe(4)
    expect(risen(after, 'homeport_request_duration_seconds_bucket', { le: '+Inf' })).toBe(4)
    expect(risen(after, 'homeport_request_duration_seconds_sum')).toBeGreaterThan(0)
    expect(risen(after, 'homeport_response_bytes_total')).toBe(400)
    expect(['miss', 'hit', 'bypass'].reduce((sum, result) => sum + risen(after, 'homeport_cache_requests_total', { result }), 0)).toBe(4)
    expect(valueOf(after, 'homeport_deployments_total', { project: 'scraped', status: 'ready' })).toBe(1)
    expect(valueOf(after, 'homeport_build_duration_seconds_count', { project: 'scraped' })).toBe(1)
    for (const [name, { type, samples }] of before)
      if (type === 'counter')
        for (const { labels, value } of samples)
          expect([name, valueOf(after, name, labels)]).toEqual([name, expect.toSatisfy((now: number) => now >= value)])
  })

  test('CPU and memory of apps, and of the process of the platform', async () => {
    const token = await createToken({ scope: 'read' })
    const metrics = await until(
      async () => {
        await context.platform.advance(10_000)
        const found = await scrape(token)
        return found.has('homeport_app_memory_bytes') ? found : undefined
      },
      { what: 'a sample of the app' },
    )
    expect(valueOf(metrics, 'homeport_app_memory_bytes', { project: 'scraped', service: '' })).toBeGreaterThan(5e6)
    expect(valueOf(metrics, 'homeport_app_cpu_seconds_total', { project: 'scraped', service: '' })).toBeGreaterThan(0)
    expect(valueOf(metrics, 'process_resident_memory_bytes', {})).toBeGreaterThan(1e7)
    expect(valueOf(metrics, 'process_start_time_seconds', {})).toBeGreaterThan(1.6e9)
    expect(metrics.get('homeport_build_info')?.samples).toEqual([{ name: 'homeport_build_info', labels: { version: expect.any(String) }, value: 1 }])
  })

  test('a token sees its own projects, and the process only as the owner of the instance', async () => {
    await context.platform.fetchEdge('other.localhost')
    expect(projectsIn(await scrape(await createToken({ scope: 'read' })))).toEqual(['other', 'scraped'])
    const limited = await scrape(await createToken({ scope: 'read', project: 'other' }))
    expect([projectsIn(limited), limited.has('process_cpu_seconds_total')]).toEqual([['other'], false])
    const stranger = await context.addPerson('scraper@example.com')
    expect([...(await scrape(stranger.token)).keys()]).toEqual([])
  })

  test('401 without a token, also for a session', async () => {
    for (const headers of [{}, { authorization: 'Bearer hp_wrong' }, { authorization: 'Basic eDp5' }]) {
      const response = await get(headers as Record<string, string>)
      expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([401, 'unauthorized'])
    }
  })

  test('a deleted project leaves', async () => {
    const token = await createToken({ scope: 'read' })
    expect((await context.request('owner', 'DELETE', '/v1/projects/other')).status).toBe(204)
    expect(projectsIn(await scrape(token))).toEqual(['scraped'])
  })
})

describe('the text format', () => {
  test('escapes labels, and orders the buckets of a histogram', () => {
    const text = formatPrometheusText([
      { name: 'a_total', help: 'One\\two\nlines.', type: 'counter', samples: [{ labels: { path: 'a "b" \\ \n' }, value: 1e21 }] },
      { name: 'none', help: 'Left out.', type: 'gauge', samples: [] },
      {
        name: 'h',
        help: 'Times.',
        type: 'histogram',
        samples: histogramSamples({ x: '1' }, [0.5, 1], { countUpTo: (bound) => bound * 4, sum: 3, count: 9 }),
      },
    ])
    const parsed = parsePrometheus(text)
    expect([...parsed.keys()]).toEqual(['a_total', 'h'])
    expect(parsed.get('a_total')?.samples).toEqual([{ name: 'a_total', labels: { path: 'a "b" \\ \n' }, value: 1e21 }])
    expect(parsed.get('h')?.samples.map(({ value }) => value)).toEqual([2, 4, 9, 3, 9])
  })
})
