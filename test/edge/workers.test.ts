import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { Edge, Route } from '../../server/edge/edge.ts'
import type { RequestRecord } from '../../server/edge/request-log.ts'
import { createEdgeWorkers } from '../../server/edge/workers/edge-workers.ts'
import { createLog, type LogEntry } from '../../server/lib/log.ts'
import { get, routeOwner, startApp, upstreamRoute } from '../support/edge.ts'
import { until } from '../support/until.ts'

type Options = Parameters<typeof createEdgeWorkers>[0]

const program = { node_path: process.execPath, script: join(import.meta.dirname, '../../server/edge/workers/worker.ts'), env: {} }
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

/** An edge of real processes, in front of an app that answers with the number of the request and Node's process id of the worker is not known to it. */
async function start(options: Partial<Options> = {}): Promise<{ edge: Edge; port: number; entries: LogEntry[] }> {
  const entries: LogEntry[] = []
  const log = createLog((_, entry) => entries.push(entry))
  const edge = createEdgeWorkers({ log, program, workers: 2, ...options })
  cleanups.push(() => edge.close())
  const { port } = await edge.listen({ host: '127.0.0.1', port: 0 })
  return { edge, port, entries }
}

async function startCounter(headers: Record<string, string> = {}) {
  let count = 0
  const app = await startApp((incoming, response) => {
    count++
    incoming.resume()
    response.writeHead(200, headers)
    response.end(`${incoming.method} ${count}`)
  })
  cleanups.push(() => app.close())
  return { port: app.port, count: () => count }
}

/** The workers of a Linux machine, by the log of what ended, are not known otherwise: a worker is killed by its process id. */
const listWorkers = async (): Promise<number[]> => {
  const { readFileSync, readdirSync } = await import('node:fs')
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
        const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
        return parent === process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('workers/worker.ts') ? [Number(pid)] : []
      } catch {
        return []
      }
    })
}

test('two workers share a listener, the routes and the counts', async () => {
  const { edge, port } = await start({ isMetricsEnabled: () => true, isRequestLogEnabled: () => true })
  const app = await startCounter()
  await edge.setRoute('app.localhost', upstreamRoute(app.port))
  expect(edge.listHosts()).toEqual(['app.localhost'])
  const responses = await Promise.all(Array.from({ length: 20 }, () => get(port, '/', { host: 'app.localhost' })))
  expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
  expect(await get(port, '/', { host: 'other.localhost' })).toMatchObject({ status: 404 })

  const records: RequestRecord[] = []
  await until(async () => records.push(...(await edge.requests.take())) >= 20 || undefined, { what: 'the records' })
  expect(records.map(({ host, status, target }) => `${host} ${status} ${target}`)).toEqual(Array.from({ length: 20 }, () => 'app.localhost 200 /'))
  let requests = 0
  await until(
    () => {
      for (const bucket of edge.metrics.take()) requests += bucket.requests
      return requests >= 20 || undefined
    },
    { what: 'the counts' },
  )
  expect(requests).toBe(20)
  expect([...edge.takeLastRequests().keys()]).toEqual([routeOwner.project_id])
})

test('a killed worker is replaced, and no connection is refused', async () => {
  const { edge, port, entries } = await start({ workers: 1 })
  const app = await startCounter()
  await edge.setRoute('app.localhost', upstreamRoute(app.port))
  await get(port, '/', { host: 'app.localhost' })
  const [first] = await listWorkers()
  process.kill(first ?? 0, 'SIGKILL')
  // Without a worker, connections wait for the next one.
  const responses = await Promise.all(Array.from({ length: 20 }, () => get(port, '/', { host: 'app.localhost' })))
  expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
  expect(entries).toMatchObject([{ level: 'warn', event: 'edge.worker_ended', fields: { reason: 'SIGKILL', pid: first } }])
  expect(await listWorkers()).not.toContain(first)
})
