import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { collectResponse, edgePaths, startApp, startEdge } from '../support/edge.ts'

const part = Buffer.alloc(2 ** 20, 'upload')
const kinds = edgePaths.flatMap((path) => [
  { ...path, framing: 'with a length', headers: { 'content-length': String(1024 * part.length) } },
  { ...path, framing: 'in chunks', headers: {} },
])

test.each(kinds)('an upload of 1 GB $framing arrives complete, memory stays flat, $name', async ({ fast_path, headers }) => {
  const edge = await startEdge({ fast_path })
  const app = await startApp(async (req, response) => {
    const received = createHash('sha256')
    for await (const bytes of req) received.update(bytes as Buffer)
    response.end(received.digest('hex'))
  })
  await edge.routeToPort(app.port)
  const hash = createHash('sha256')
  const req = request({ host: '127.0.0.1', port: edge.port, method: 'POST', agent: false, headers: { host: 'app.localhost', ...headers } })
  const answered = once(req, 'response') as Promise<[IncomingMessage]>
  const before = process.memoryUsage().rss
  let most = before
  for (let i = 0; i < 1024; i++) {
    hash.update(part)
    if (!req.write(part)) await once(req, 'drain')
    most = Math.max(most, process.memoryUsage().rss)
  }
  req.end()
  const [response] = await answered
  expect((await collectResponse(response)).text).toBe(hash.digest('hex'))
  expect(most - before).toBeLessThan(200 * 2 ** 20)
  await edge.close()
  await app.close()
})
