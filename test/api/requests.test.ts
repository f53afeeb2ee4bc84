import Sqlite from 'better-sqlite3'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import type { LoggedRequest } from '../../server/contract/requests.ts'
import { loggedRequest } from '../../server/contract/requests.ts'
import { readEventStream } from '../support/event-stream.ts'
import { har } from '../support/har.ts'
import { createTempFolder } from '../support/instance-process.ts'
import { commandLine, runCommand } from '../support/command.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'
import { createApiContext, expectError, issuePaths, type ApiContext, type Caller } from './api-context.ts'

const folder = createTempFolder('request-log')
let context: ApiContext

beforeAll(async () => {
  context = await createApiContext()
  const site = join(folder.path, 'logged')
  mkdirSync(site)
  writeFileSync(join(site, 'index.html'), 'hello')
  expect(await commandLine(context.platform.handle.instance, folder.path)('deploy', site)).toMatchObject({ code: 0 })
})
afterAll(async () => {
  await context.close()
  folder.remove()
})

interface Page {
  requests: LoggedRequest[]
  next_cursor: string | null
  last_event_id: string
  is_recording: boolean
}

async function list(query = '', who: Caller = 'owner'): Promise<Page> {
  const response = await context.request(who, 'GET', `/instance/projects/logged/requests${query}`)
  expect(response.status).toBe(200)
  const page = response.body as unknown as Page
  for (const request of page.requests) loggedRequest.strict().parse(request)
  return page
}
const fetchPath = (path: string) => context.platform.fetchEdge('logged.localhost', path)
const pathsOf = ({ requests }: Page) => requests.map(({ path }) => path)

describe('GET /instance/projects/{slug}/requests', () => {
  test('200 with the requests so far, newest first, and a cursor', async () => {
    for (const path of ['/1', '/2', '/3?token=s3cret']) await fetchPath(path)
    // A request is over a moment after its client has the response.
    const page = await until(async () => ((found) => (found.requests[0]?.path === '/3' ? found : undefined))(await list('?limit=2')), {
      what: 'the last request',
    })
    expect(pathsOf(page)).toEqual(['/3', '/2'])
    expect(page).toMatchObject({
      is_recording: true,
      requests: [{ status: 404, query: 'token=***', host: 'logged.localhost', client_ip: '127.0.0.0' }, {}],
    })
    expect(pathsOf(await list(`?limit=2&cursor=${page.next_cursor}`))[0]).toBe('/1')
  })

  test('filters', async () => {
    expect(new Set(pathsOf(await list('?status=4xx&path=/1')))).toEqual(new Set(['/1']))
    expect(pathsOf(await list('?status=5xx'))).toEqual([])
    expect(pathsOf(await list('?until=2020-01-01T00:00:00.000Z'))).toEqual([])
    expect(pathsOf(await list('?since=2020-01-01T00:00:00.000Z&method=get&path=/2'))).toEqual(['/2'])
  })

  test('400 for invalid filters and cursors', async () => {
    const response = await context.request('owner', 'GET', '/instance/projects/logged/requests?status=6xx&since=yesterday&cache=maybe')
    expectError(response, 400, 'invalid_input')
    expect(issuePaths(response)).toEqual(['cache', 'since', 'status'])
    expectError(await context.request('owner', 'GET', '/instance/projects/logged/requests?cursor=x'), 400, 'invalid_input')
  })

  test('members see it, strangers do not', async () => {
    expect((await list('', 'member')).requests.length).toBeGreaterThan(0)
    expectError(await context.request('stranger', 'GET', '/instance/projects/logged/requests'), 404, 'project_not_found')
  })

  test('the setting `request_log` turns it off and on at once', async () => {
    await context.request('instance_owner', 'PATCH', '/instance/settings', { request_log: false })
    await fetchPath('/while-off')
    expect((await list()).is_recording).toBe(false)
    await context.request('instance_owner', 'PATCH', '/instance/settings', { request_log: true })
    await fetchPath('/on-again')
    const page = await until(async () => ((found) => (found.requests[0]?.path === '/on-again' ? found : undefined))(await list()), {
      what: 'the request',
    })
    expect(pathsOf(page)).not.toContain('/while-off')
  })
})

describe('GET /instance/projects/{slug}/request-stream', () => {
  test('follows matching requests, and continues after an event without a gap', async () => {
    const { last_event_id } = await list()
    const url = `${context.platform.handle.api_url}/instance/projects/logged/request-stream?path=/live`
    const token = context.tokens.owner ?? ''
    await fetchPath('/live/1')
    await fetchPath('/ignored')
    await fetchPath('/live/2')
    const seen: string[] = []
    let position: string | undefined
    for await (const { event, id, data } of readEventStream(`${url}&last_event_id=${last_event_id}`, { token })) {
      expect(event).toBe('request')
      position = id
      seen.push((JSON.parse(data) as LoggedRequest).path)
      if (seen.length === 1) await fetchPath('/live/3')
      if (seen.length === 3) break
    }
    expect(seen).toEqual(['/live/1', '/live/2', '/live/3'])
    await fetchPath('/live/4')
    for await (const { data } of readEventStream(url, { token, last_event_id: position })) {
      expect((JSON.parse(data) as LoggedRequest).path).toBe('/live/4')
      break
    }
  })
})

describe('GET /instance/requests/{id}', () => {
  test('200 by the ID that the client received', async () => {
    const response = await fetchPath('/by-id')
    const id = String(response.headers['x-request-id'])
    const found = await until(
      async () => ((answer) => (answer.status === 200 ? answer : undefined))(await context.request('member', 'GET', `/instance/requests/${id}`)),
      { what: 'the request' },
    )
    expect(found.body).toMatchObject({ project: 'logged', request: { id, path: '/by-id', status: 404 } })
    expectError(await context.request('stranger', 'GET', `/instance/requests/${id}`), 404, 'request_not_found')
  })

  test('404 for an unknown ID', async () => {
    expectError(await context.request('owner', 'GET', '/instance/requests/req_00000000000000000000000000'), 404, 'request_not_found')
    expectError(await context.request('owner', 'GET', '/instance/requests/nonsense'), 404, 'request_not_found')
  })
})

describe('homeport requests', () => {
  test('lists, filters and shows', async () => {
    const run = commandLine(context.platform.handle.instance, folder.path)
    const { code, out } = await run('requests', 'logged', '--path', '/by-id', '--since', '1h')
    expect(code).toBe(0)
    expect(out).toMatch(/^20\S+Z {2}GET {5}404 .* \/by-id$/m)
    const [line = '{}'] = (await run('requests', 'logged', '--path', '/by-id', '--json')).out.trim().split('\n')
    const { id } = JSON.parse(line) as LoggedRequest
    expect((await run('requests', 'show', id)).out).toMatch(/^GET http:\/\/logged\.localhost\/by-id$/m)
    expect(await run('requests', 'logged', '--status', '9xx')).toMatchObject({ code: 2 })
    expect(await run('requests', 'logged', '--since', 'often')).toMatchObject({ code: 2 })
    expect((await run('requests', 'logged', '--status', '5xx')).out).toBe('No requests.\n')
  })

  test('--har writes the filtered requests as one HAR 1.2 document', async () => {
    const run = commandLine(context.platform.handle.instance, folder.path)
    const { code, out } = await run('requests', 'logged', '--har', '--path', '/3')
    const { port } = new URL(context.platform.handle.instance.edge_url)
    expect(code).toBe(0)
    const { log } = har.parse(JSON.parse(out))
    expect(log.entries).toMatchObject([
      {
        request: { method: 'GET', url: `http://logged.localhost:${port}/3?token=***`, queryString: [{ name: 'token', value: '***' }] },
        response: { status: 404 },
      },
    ])
    expect(har.parse(JSON.parse((await run('requests', 'logged', '--har', '--status', '5xx')).out)).log.entries).toEqual([])
    expect(await run('requests', 'logged', '--har', '--follow')).toMatchObject({ code: 2 })
  })

  test('--follow prints each request that matches, until it is interrupted', async () => {
    await fetchPath('/followed/1')
    const controller = new AbortController()
    const { code, out } = await runCommand(
      context.platform.handle.instance,
      folder.path,
      ['requests', 'logged', '--follow', '--limit', '1', '--path', '/followed'],
      {
        signal: controller.signal,
        onOutput(text) {
          if (text.endsWith('/followed/1\n')) void fetchPath('/ignored').then(() => fetchPath('/followed/2'))
          else controller.abort()
        },
      },
    )
    expect(code).toBe(0)
    expect(out.match(/\S+$/gm)).toEqual(['/followed/1', '/followed/2'])
  })
})

/** Requests in the file, as another process sees them. */
function countStored(folder: string): number {
  const db = new Sqlite(join(folder, 'requests.db'), { readonly: true })
  try {
    return db.prepare<[], { n: number }>('SELECT count(*) AS n FROM requests').get()?.n ?? 0
  } finally {
    db.close()
  }
}

fullTest('a restart loses nothing, SIGKILL loses only what was not yet stored, and a deleted project takes its requests with it', async () => {
  const data = createTempFolder('requests')
  const stored = () => countStored(data.path)
  const start = () => startTestPlatform({ runtime: 'process', data_dir: data.path })
  const send = async (platform: TestPlatform, times: number) => {
    for (let i = 0; i < times; i++) await platform.fetchEdge('lasting.localhost', `/${i}`)
  }
  let platform = await start()
  await platform.createProject({ slug: 'lasting' })
  await send(platform, 7)
  await platform.handle.stop()
  expect(stored()).toBe(7)

  platform = await start()
  await send(platform, 5)
  // Without any query they are stored by themselves.
  await platform.advance(2_000)
  await until(() => stored() === 12 || undefined, { what: '12 requests to be stored' })
  await send(platform, 3)
  await platform.kill()
  const kept = stored()
  expect(kept).toBeGreaterThanOrEqual(12)

  platform = await start()
  const { body } = await platform.api<Page>('GET', '/instance/projects/lasting/requests')
  expect(body.requests).toHaveLength(kept)
  await platform.api('DELETE', '/v1/projects/lasting')
  await until(() => stored() === 0 || undefined, { what: 'the requests of the project to go' })
  await platform.remove()
  data.remove()
})
