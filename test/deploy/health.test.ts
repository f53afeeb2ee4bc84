import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { untilHealthy } from '../../server/deploy/health.ts'
import type { CheckResult, Exit } from '../../server/runtime/runtime.ts'
import { createTestClock } from '../support/test-clock.ts'

let server: Server | undefined
afterEach(() => server?.close())

/** An app that answers with a status, and a HEALTHCHECK with these results, the last one for ever. */
async function healthOf(status: number, results: CheckResult[] | null, timeout_ms = 60_000) {
  server = createServer((_request, response) => response.writeHead(status).end())
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  let asked = 0
  await untilHealthy({
    instance: {
      id: 'one',
      deployment_id: 'dpl_1',
      host: '127.0.0.1',
      port: (server.address() as AddressInfo).port,
      listeningPorts: async () => [],
      ...(results && { ownCheck: async () => results[Math.min(asked++, results.length - 1)]! }),
    },
    ended: new Promise<Exit>(() => {}),
    signal: new AbortController().signal,
    clock: createTestClock(),
    timeout_ms,
    note: () => {},
  })
  return asked
}

const passed = { passed: true, output: '' }
const failed = { passed: false, output: 'no migrations yet' }

test('a HEALTHCHECK is asked until it passes, whatever / says', async () => {
  expect(await healthOf(200, [failed, failed, passed])).toBe(3)
  expect(await healthOf(500, [passed])).toBe(1)
})

test('one that never passes fails with its last output', async () => {
  await expect(healthOf(200, [failed], 20)).rejects.toMatchObject({
    code: 'health_check_failed',
    message: expect.stringContaining('HEALTHCHECK'),
    hint: expect.stringMatching(/\nno migrations yet$/),
  })
})

test('without one / decides', async () => {
  expect(await healthOf(404, null)).toBe(0)
  await expect(healthOf(500, null, 20)).rejects.toMatchObject({ code: 'health_check_failed', message: expect.stringContaining('500') })
})
