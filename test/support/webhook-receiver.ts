import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { until } from './until.ts'

export interface ReceivedWebhook {
  path: string
  headers: IncomingHttpHeaders
  body: string
}

export interface WebhookReceiver {
  url: string
  port: number
  received: ReceivedWebhook[]
  /** Statuses of the next responses; then 200. `location` makes one a redirect to itself. */
  statuses: number[]
  /** Waits for this many requests. */
  waitFor(count: number): Promise<ReceivedWebhook[]>
  close(): Promise<void>
}

/** A server on this machine that records what it receives. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = []
  const statuses: number[] = []
  const server = createServer((req, res) => {
    let body = ''
    req.setEncoding('utf8').on('data', (part: string) => (body += part))
    req.on('end', () => {
      received.push({ path: req.url ?? '', headers: req.headers, body })
      const status = statuses.shift() ?? 200
      res.writeHead(status, status >= 300 && status < 400 ? { location: '/redirected' } : {}).end('an unread body')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook?key=of-the-receiver`,
    port,
    received,
    statuses,
    waitFor: (count) => until(() => (received.length >= count ? received : undefined), { what: `${count} webhooks` }),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
