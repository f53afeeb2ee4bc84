import { createServer } from 'node:http'

const server = createServer((request, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ hello: 'from plain Node', url: request.url, node: process.versions.node, greeting: process.env.GREETING ?? null }))
})

server.listen(process.env.PORT ?? 3000, () => console.log('listening'))
process.on('SIGTERM', () => server.close(() => process.exit(0)))
