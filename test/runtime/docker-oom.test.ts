/** A fake of the engine: the real one reports the exit before the reason only once in a hundred times. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Docker from 'dockerode'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { wasOomKilled } from '../../server/runtime/docker/oom.ts'

const requests: URL[] = []
let response: { status: number; events: string[]; is_open?: boolean }
const engine = createServer((req, res) => {
  requests.push(new URL(req.url ?? '', 'http://engine'))
  res.writeHead(response.status, { 'content-type': 'application/json' })
  for (const event of response.events) res.write(event)
  if (!response.is_open) res.end()
})
await new Promise<void>((resolve) => engine.listen(0, '127.0.0.1', resolve))
const docker = new Docker({ host: '127.0.0.1', port: (engine.address() as AddressInfo).port, protocol: 'http' })
const oom = JSON.stringify({ Type: 'container', Action: 'oom' })
const ended = (ExitCode: number, OOMKilled = false) =>
  ({ ExitCode, OOMKilled, StartedAt: '2026-11-21T10:00:00.5Z', FinishedAt: '2026-11-21T10:00:03.25Z' }) as Docker.ContainerInspectInfo['State']

beforeEach(() => void (requests.length = 0))
afterAll(() => new Promise((resolve) => engine.close(resolve).closeAllConnections()))

test('the OOMKilled flag is trusted, and an exit other than SIGKILL is not out of memory', async () => {
  expect(await wasOomKilled(docker, 'one', ended(137, true))).toBe(true)
  expect(await wasOomKilled(docker, 'one', ended(1))).toBe(false)
  expect(await wasOomKilled(docker, 'one', ended(143))).toBe(false)
  expect(requests).toEqual([])
})

test('a late OOM event is found at once, although the engine keeps the stream open', async () => {
  response = { status: 200, events: [oom], is_open: true }
  expect(await wasOomKilled(docker, 'one', ended(137))).toBe(true)
  const query = requests[0]?.searchParams
  expect(requests[0]?.pathname).toBe('/events')
  expect(JSON.parse(query?.get('filters') ?? '')).toEqual({ container: ['one'], event: ['oom'] })
  const [since, until] = [Number(query?.get('since')), Number(query?.get('until'))]
  expect(new Date(since * 1_000).toISOString()).toBe('2026-11-21T10:00:00.000Z')
  expect(new Date(until * 1_000).toISOString()).toBe('2026-11-21T10:00:04.250Z')
})

test('SIGKILL without an OOM event, or from an engine without such events, is just killed', async () => {
  response = { status: 200, events: [] }
  expect(await wasOomKilled(docker, 'one', ended(137))).toBe(false)
  response = { status: 500, events: ['no'] }
  expect(await wasOomKilled(docker, 'one', ended(137))).toBe(false)
  expect(requests.length).toBe(2)
})
