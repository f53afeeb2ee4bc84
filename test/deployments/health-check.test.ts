import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { type HealthCheckOptions, type HealthyEndpoint, waitUntilHealthy } from '../../server/deployments/health-check.ts'
import type { HealthcheckResult, ReplicaExit, Replica, ListeningPort } from '../../server/runtime/runtime.ts'
import { createTestClock } from '../support/test-clock.ts'
import { until } from '../support/until.ts'

const servers: TcpServer[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function listen(status: number, host = '127.0.0.1'): Promise<number> {
  const server = createServer((_request, response) => response.writeHead(status).end())
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  return (server.address() as AddressInfo).port
}

const instanceAt = (port: number, more: Partial<Replica> = {}): Replica => ({
  id: 'one',
  deployment_id: 'dpl_1',
  command: 'node server.js',
  host: '127.0.0.1',
  port,
  assigned_port: port,
  getListeningPorts: async () => [],
  ...more,
})

/** The result of a health check, on a clock that advances until it ends, and when it ended, in seconds of that clock. */
async function checkHealth(check: Pick<HealthCheckOptions, 'replica' | 'known_port'>) {
  const clock = createTestClock({ frozen_at: 0 })
  let outcome: { answering?: HealthyEndpoint; error?: Error } | undefined
  waitUntilHealthy({ ...check, exited: new Promise<ReplicaExit>(() => {}), signal: new AbortController().signal, clock }).then(
    (answering) => (outcome = { answering }),
    (error: Error) => (outcome = { error }),
  )
  await until(
    async () => {
      await clock.advance(500)
      return outcome
    },
    { what: 'an end of the health check', every_ms: 5 },
  )
  return { ...outcome, after_s: Math.floor(clock.monotonic() / 1_000) }
}

/** How often the HEALTHCHECK runs for an app that answers with this status. The last result is repeated. */
async function healthOf(status: number, results: HealthcheckResult[] | null) {
  let attempts = 0
  const runHealthcheck = results && { runHealthcheck: async () => results[Math.min(attempts++, results.length - 1)]! }
  const { error } = await checkHealth({ replica: instanceAt(await listen(status), runHealthcheck ?? {}), known_port: null })
  if (error) throw error
  return attempts
}

const at = (port: number, more: Partial<ListeningPort> = {}): ListeningPort => ({
  port,
  loopback_only: false,
  is_exposed: false,
  endpoints: [{ host: '127.0.0.1', port }],
  ...more,
})

/** The result for an app that ignores PORT and listens on these ports. */
async function foundOn(ports: ListeningPort[], known_port: number | null = null) {
  const unused = await listen(200)
  servers.pop()?.close()
  return checkHealth({ replica: instanceAt(unused, { getListeningPorts: async () => ports }), known_port })
}

const passed = { passed: true, output: '' }
const failed = { passed: false, output: 'no migrations yet' }

test('a HEALTHCHECK runs until it passes, whatever / returns', async () => {
  expect(await healthOf(200, [failed, failed, passed])).toBe(3)
  expect(await healthOf(500, [passed])).toBe(1)
})

test('one that never passes fails with its last output', async () => {
  await expect(healthOf(200, [failed])).rejects.toMatchObject({
    code: 'health_check_failed',
    message: expect.stringContaining('HEALTHCHECK'),
    hint: expect.stringMatching(/\nno migrations yet$/),
  })
})

test('without one the response to / decides', async () => {
  expect(await healthOf(404, null)).toBe(0)
  await expect(healthOf(500, null)).rejects.toMatchObject({ code: 'health_check_failed', message: expect.stringContaining('500') })
})

test('finds an app on another port, and does not mistake a debugger for it', async () => {
  const [app, debugger_] = [await listen(200), await listen(400)]
  const { answering, after_s } = await foundOn([at(debugger_), at(app)])
  expect(answering).toEqual({ endpoint: { host: '127.0.0.1', port: app }, listen_port: app })
  expect(after_s).toBeGreaterThanOrEqual(5)
  expect((await foundOn([at(debugger_)])).after_s).toBeGreaterThanOrEqual(20)
})

test('uses a port known from the last start or from EXPOSE at once, before others', async () => {
  const [metrics, app] = [await listen(200), await listen(404)]
  for (const found of [await foundOn([at(metrics), at(app)], app), await foundOn([at(metrics), at(app, { is_exposed: true })])]) {
    expect(found.answering?.listen_port).toBe(app)
    expect(found.after_s).toBeLessThan(5)
  }
})

test('reaches an app that listens only on IPv6 where possible', async () => {
  const port = await listen(200, '::1')
  const endpoint = { host: '::1', port }
  expect((await foundOn([at(port, { endpoints: [{ host: '127.0.0.1', port }, endpoint] })])).answering).toEqual({ endpoint, listen_port: port })
})

test('a port that the engine has not published is returned for another start', async () => {
  expect((await foundOn([at(3000, { endpoints: [] })])).answering).toEqual({ endpoint: null, listen_port: 3000 })
})

test('an unreachable port, or one that does not speak HTTP, fails with the port in the error', async () => {
  const shutIn = await foundOn([at(3000, { endpoints: [], loopback_only: true })])
  expect(shutIn.error).toMatchObject({ code: 'port_not_detected', message: expect.stringContaining('127.0.0.1 (port 3000)') })
  expect(shutIn.after_s).toBeLessThan(60)
  const silent = createTcpServer((socket) => socket.end('SSH-2.0-x\r\n').on('error', () => {}))
  servers.push(silent)
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const { error, after_s } = await foundOn([at(port)])
  expect(error?.message).toContain(`listens on port ${port}, but did not respond to GET /`)
  // It waits its full time, because the app may still open PORT.
  expect(after_s).toBeGreaterThanOrEqual(60)
})
