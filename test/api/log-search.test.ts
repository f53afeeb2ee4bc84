import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FoundLogLine, StoredLogLine } from '../../server/contract/log-search.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { createApiContext, expectError, issuePaths, type ApiContext, type Caller } from './api-context.ts'

let context: ApiContext
let repository: Repository
let deployment_id: string
// The output of a start is in the build log too, so this comes later.
const appSource = `
require('node:http').createServer((request, response) => {
  if (request.url === '/print') {
    for (let n = 1; n <= 300; n++) console.log('order ' + n + ' accepted')
    console.error('Payment refused by “Café” gateway')
    console.log(JSON.stringify({ level: 'warn', msg: 'stock is low', sku: 'LAMP-1' }))
    console.log('\\u001b[32mprinted\\u001b[39m')
  }
  response.end('ok')
}).listen(process.env.PORT, '127.0.0.1')`

beforeAll(async () => {
  context = await createApiContext({ runtime: 'process', ahead_ms: 0 })
  repository = makeRepository({
    'package.json': JSON.stringify({ name: 'found', private: true, scripts: { build: 'echo bundling stock', start: 'node server.js' } }),
    'server.js': appSource,
  })
  await context.platform.createProject({ slug: 'found', repo_url: repository.url })
  deployment_id = (await context.platform.deploy('found')).id
  await context.platform.waitForEnd('found', deployment_id)
  await context.platform.fetchEdge('found.localhost', '/print')
  await until(async () => ((await search('?query=printed')).length === 1 && (await search('?query=cafe')).length === 1 ? true : undefined), {
    what: 'the output of the request in the log',
  })
})
afterAll(async () => {
  await context.close()
  repository.remove()
})

async function search(query: string, who: Caller | { token: string } = 'owner'): Promise<FoundLogLine[]> {
  const { status, body } = await context.request(who, 'GET', `/instance/logs${query}`)
  expect([query, status]).toEqual([query, 200])
  return body.lines as FoundLogLine[]
}
const texts = (lines: StoredLogLine[]) => lines.map(({ line }) => line)

describe('GET /instance/logs', () => {
  test('200 with lines of runtime and build logs, newest first, with their source', async () => {
    const [first, ...rest] = await search('?query=stock%20is')
    expect(rest).toEqual([])
    expect(first).toMatchObject({
      log: 'runtime',
      project: { slug: 'found' },
      target: 'production',
      branch: null,
      service: null,
      deployment_id,
      stream: 'stdout',
      level: 'warn',
    })
    const all = await search('?query=stock')
    expect(all.map(({ log }) => log)).toEqual(expect.arrayContaining(['runtime', 'build']))
    expect(all[0]?.log).toBe('runtime')
    expect((await search('?query=stock&log=build')).every(({ log, line }) => log === 'build' && line.includes('stock'))).toBe(true)
  })

  test('finds words at their start, without accents and colors, and quoted text', async () => {
    expect(texts(await search('?query=cafe'))).toEqual(['Payment refused by “Café” gateway'])
    expect(texts(await search('?query=print'))).toEqual(['\u001b[32mprinted\u001b[39m'])
    expect(await search('?query=rinted')).toEqual([])
    expect(texts(await search(`?query=${encodeURIComponent('"refused by"')}`))).toHaveLength(1)
    expect(await search(`?query=${encodeURIComponent('"by refused"')}`)).toEqual([])
  })

  test('filters by level and time, and pages without gap or repeat', async () => {
    expect(texts(await search('?level=error&log=runtime'))).toEqual(['Payment refused by “Café” gateway'])
    expect(texts(await search('?level=warn&log=runtime'))).toHaveLength(2)
    expect(await search('?query=order&until=2020-01-01T00:00:00.000Z')).toEqual([])
    expect(await search('?query=order&since=2099-01-01T00:00:00.000Z')).toEqual([])
    const seen: string[] = []
    let cursor = ''
    do {
      const { body } = await context.request('owner', 'GET', `/instance/logs?query=order%20accepted&limit=100${cursor}`)
      seen.push(...texts(body.lines as FoundLogLine[]))
      cursor = typeof body.next_cursor === 'string' ? `&cursor=${body.next_cursor}` : ''
    } while (cursor !== '')
    expect(seen).toEqual(Array.from({ length: 300 }, (_, n) => `order ${300 - n} accepted`))
  })

  test('only of projects that the caller may see', async () => {
    expect(await search('?query=printed', 'member')).toHaveLength(1)
    expect(await search('?query=printed', 'stranger')).toEqual([])
    expectError(await context.request('stranger', 'GET', '/instance/logs?project=found'), 404, 'project_not_found')
    expectError(await context.request('owner', 'GET', '/instance/logs?level=loud'), 400, 'invalid_input')
  })
})

describe('GET log-lines', () => {
  const read = async (query: string) => {
    const { status, body } = await context.request('owner', 'GET', `/instance/projects/found/log-lines${query}`)
    expect([query, status]).toEqual([query, 200])
    return body as unknown as { lines: StoredLogLine[]; has_earlier: boolean; has_later: boolean }
  }

  test('the last lines, and the pages before and after a line', async () => {
    const last = await read('?limit=3')
    expect(texts(last.lines)).toContain('\u001b[32mprinted\u001b[39m')
    expect([last.has_earlier, last.has_later]).toEqual([true, false])
    const [order150] = await search('?query=%22order%20150%20%22')
    const record = order150!.record
    const around = await read(`?around=${record}&limit=5`)
    expect(texts(around.lines)).toEqual([148, 149, 150, 151, 152].map((n) => `order ${n} accepted`))
    expect([around.has_earlier, around.has_later]).toEqual([true, true])
    expect(texts((await read(`?before=${record}&limit=2`)).lines)).toEqual(['order 148 accepted', 'order 149 accepted'])
    expect(texts((await read(`?after=${record}&limit=2`)).lines)).toEqual(['order 151 accepted', 'order 152 accepted'])
    const at = await read(`?at=${order150!.time}&limit=500`)
    expect(texts(at.lines)).toContain('order 150 accepted')
    expect((await read('?at=2020-01-01T00:00:00.000Z&limit=2')).has_earlier).toBe(false)
  })

  test('of a build; errors for what does not exist', async () => {
    expect(texts((await read(`?deployment=${deployment_id}`)).lines)).toContain('bundling stock')
    const get = (query: string) => context.request('owner', 'GET', `/instance/projects/found/log-lines${query}`)
    expectError(await get('?deployment=dpl_none'), 404, 'deployment_not_found')
    expectError(await get('?service=none'), 404, 'service_not_found')
    expect(issuePaths(await get('?limit=501'))).toEqual(['limit'])
  })
})
