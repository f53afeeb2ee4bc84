import { createServer } from 'node:http'

createServer((_request, response) => response.end('Hello from a Dockerfile')).listen(process.env.PORT ?? 8080)
