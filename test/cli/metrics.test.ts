import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Metrics } from '../../server/contract/metrics.ts'
import { metricsBuckets } from '../../server/contract/metrics-ranges.ts'
import { type CommandLine, commandLine } from '../support/command.ts'
import { createTempFolder } from '../support/instance-process.ts'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'

const folder = createTempFolder('metrics-command')
let platform: SharedPlatform
let run: CommandLine

beforeAll(async () => {
  const site = join(folder.path, 'shown')
  mkdirSync(site)
  writeFileSync(join(site, 'index.html'), 'x'.repeat(2000))
  platform = await sharedPlatform()
  run = commandLine(platform.handle.instance, folder.path)
  expect(await run('deploy', site)).toMatchObject({ code: 0 })
  for (let i = 0; i < 12; i++) await platform.fetchEdge('shown.localhost', i < 9 ? '/' : '/missing')
})
afterAll(async () => {
  await platform.remove()
  folder.remove()
})

describe('homeport metrics SLUG', () => {
  test('shows the counts', async () => {
    const { code, out, err } = await run('metrics', 'shown')
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^shown, last 24 hours\n/)
    expect(out).toMatch(/^ {2}requests +12, 0 % failed, \d+\.\d kB sent$/m)
    // A new hour may have started meanwhile.
    expect(out).toMatch(/^ +█ ?$/m)
    // On a stalled machine these are seconds.
    expect(out).toMatch(/^ {2}response time +p50 [\d.]+ m?s, p95 [\d.]+ m?s, p99 [\d.]+ m?s$/m)
    expect(out).toMatch(/^ {2}cold starts +none$/m)
    expect(out).toMatch(/^ {2}cache +12 hits, 0 misses, 0 bypassed, 100 % hit rate$/m)
    expect(out).toMatch(/^ {2}usage now +not running$/m)
  })

  test('--buckets lists those that had requests', async () => {
    const { out } = await run('metrics', 'shown', '--range', '7d', '--buckets')
    expect(out).toMatch(/^FROM +REQUESTS +2XX +3XX +4XX +5XX +P50 +P95 +P99$/m)
    const rows = [...out.matchAll(/^20\d\d-\S+Z +(\d+) +(\d+) +\d+ +(\d+)/gm)].map((row) => row.slice(1).map(Number))
    expect(rows.reduce((sum, row) => row.map((cell, i) => cell + (sum[i] ?? 0)), [])).toEqual([12, 9, 3])
  })

  test('--json is the API response', async () => {
    const response = await run.json<Metrics>('metrics', 'shown', '--range', '30d')
    expect(response).toMatchObject({ range: '30d', totals: { requests: 12 }, cache: { hits: 12 } })
    expect(response.buckets).toHaveLength(metricsBuckets['30d'].count)
  })

  test('--range live is the last 15 minutes', async () => {
    expect((await run('metrics', 'shown', '--range', 'live')).out).toMatch(/^shown, last 15 minutes\n {2}requests +12,/)
    expect(await run.json('metrics', 'shown', '--range', '1h')).toMatchObject({
      range: '1h',
      totals: { requests: 12 },
      deployments: [{ id: expect.any(String) }],
    })
  })

  test('--routes lists the routes', async () => {
    const { out } = await run('metrics', 'shown', '--routes', '--range', '1h', '--sort', 'requests')
    expect(out).toMatch(/^METHOD +ROUTE +REQUESTS +ERRORS +P50 +P95 +P99 +SENT\nGET +\/ +9 +0 .+ kB\nGET +\/missing +3 +0 /m)
    expect(await run('metrics', 'shown', '--routes', '--sort', 'name')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--sort must be one of'),
    })
  })

  test('reports an invalid range, a missing slug and an unknown project', async () => {
    expect(await run('metrics', 'shown', '--range', '2h')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--range must be one of live, 1h, 6h, 24h, 7d, 30d.'),
    })
    expect(await run('metrics')).toMatchObject({ code: 2, err: expect.stringContaining('SLUG is missing.') })
    expect(await run('metrics', 'nothing')).toMatchObject({ code: 1, err: expect.stringContaining('project_not_found') })
  })
})
