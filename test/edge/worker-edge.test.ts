import { createServer, type AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import type { WorkerCommand, WorkerEvent } from '../../server/edge/workers/protocol.ts'
import { createWorkerEdge } from '../../server/edge/workers/worker-edge.ts'
import { get, startApp, upstreamRoute } from '../support/edge.ts'
import { until } from '../support/until.ts'

test('the records of a burst come in several reports, before the answer to the question for them', async () => {
  const { worker, events, results, close } = await start()
  const listener = createServer((socket) => worker.accept(socket, { listener: 1, is_secure: false, network: null }))
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const { port } = listener.address() as AddressInfo
  for (let at = 0; at < 600; at += 50) {
    const requests = Array.from({ length: 50 }, (_, index) => get(port, `/${at + index}`, { host: 'app.localhost' }))
    expect((await Promise.all(requests)).every(({ status }) => status === 200)).toBe(true)
  }

  worker.handle({ type: 'report_now', id: 1 })
  await results(1)
  const reports = events.filter((event) => event.type === 'report')
  expect(events.at(-1)).toEqual({ type: 'result', id: 1, result: undefined })
  expect(reports.map(({ records }) => records.length)).toEqual([250, 250, 100])
  expect(new Set(reports.flatMap(({ records }) => records.map(({ target }) => target))).size).toBe(600)
  expect(reports.flatMap(({ metrics }) => metrics).reduce((sum, bucket) => sum + bucket.requests, 0)).toBe(600)
  listener.close()
  await close()
})

test('what another version of the platform says is answered, and changes nothing', async () => {
  const { worker, events, results, close } = await start()
  const before = worker.getState()
  worker.handle({ type: 'of the next version', id: 1 } as unknown as WorkerCommand)
  await results(1)
  expect(events.at(-1)).toMatchObject({ type: 'result', id: 1 })
  expect(worker.getState()).toEqual(before)
  await close()
})

/** A worker in this process that reports only if it is asked to, with a route to an app. */
async function start() {
  const events: WorkerEvent[] = []
  const closed = Promise.withResolvers<void>()
  const worker = createWorkerEdge({ send: (event) => events.push(event), canReport: () => false, onClosed: closed.resolve })
  const app = await startApp((_, response) => response.end('hello'))
  worker.handle({
    type: 'start',
    state: {
      platform_start: '',
      settings: {
        is_metrics_enabled: true,
        is_request_log_enabled: true,
        is_https_redirect_enabled: false,
        cache_memory_bytes: 0,
        cache_disk_bytes: 0,
      },
      has_https: false,
      https_port: 0,
      cache: null,
      probe_secret: undefined,
      private_cookie: undefined,
      apps_domain: null,
      sticky_secret: '',
      request_log_share: 1,
      routes: [['app.localhost', upstreamRoute(app.port)]],
      aliases: [],
      development_routes: [],
      uncached_projects: [],
      challenges: [],
      captures: [],
      cache_changes: [],
    },
  })
  const results = (count: number) =>
    until(async () => (events.filter(({ type }) => type === 'result').length === count ? true : undefined), { what: 'the results' })
  return {
    worker,
    events,
    results,
    async close() {
      worker.handle({ type: 'close', grace_ms: 0 })
      await closed.promise
      await app.close()
    },
  }
}
