import { createServer } from 'node:http'
import { frontPage } from './page.js'

/** Simulates slow rendering. */
const render_ms = 900
let edition = 0

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, 'http://app')
  // The health check of Homeport requests / too, and gets a response at once.
  const isReader = request.headers['user-agent'] !== 'Homeport-Health-Check'
  if (pathname !== '/') return response.writeHead(404, { 'content-type': 'text/plain' }).end('Not found.\n')
  if (isReader) {
    edition++
    console.log(`edition ${edition}: rendering`)
    await new Promise((wake) => setTimeout(wake, render_ms))
    console.log(`edition ${edition}: rendered`)
  }
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    // Fresh for a minute; for ten more minutes served stale while a new edition is rendered.
    'cache-control': 'public, max-age=60, stale-while-revalidate=600',
    // Tags of the page. A purge of any of them removes it from the cache.
    'surrogate-key': 'front-page weather arrivals',
  })
  response.end(frontPage(edition, new Date()))
})

server.listen(process.env.PORT ?? 3000, process.env.HOST, () => console.log(`Listening on port ${server.address().port}`))
process.on('SIGTERM', () => process.exit(0))
