import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// The app of the purge benchmark: `GET /o/N` is 1 kB with tags of 1, 1 000 and 10 000 of 100 000 objects. Prints its port.
const body = Buffer.alloc(1024, 'o')
const server = createServer((req, response) => {
  const n = Number(/^\/o\/(\d+)/.exec(req.url ?? '')?.[1] ?? 0)
  response.writeHead(200, {
    'Cache-Control': 'public, max-age=86400',
    'Surrogate-Key': `one-${n} hundredth-${n % 100} tenth-${n % 10}`,
    'Content-Length': body.length,
  })
  response.end(body)
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
