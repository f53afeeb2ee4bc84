import { createServer } from 'node:http'
import { frontPage } from './page.js'

/** Setting the type takes its time, as rendering does. */
const press_ms = 900
let edition = 0

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, 'http://app')
  // Homeport asks for / to see whether the app is up; a reader does not wait for that.
  const isReader = request.headers['user-agent'] !== 'Homeport-Health-Check'
  if (pathname !== '/') return response.writeHead(404, { 'content-type': 'text/plain' }).end('No such page in this paper.\n')
  if (isReader) {
    edition++
    console.log(`edition ${edition}: setting the type`)
    await new Promise((wake) => setTimeout(wake, press_ms))
    console.log(`edition ${edition}: printed`)
  }
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    // A minute fresh, and for ten more given while a new one is printed behind it.
    'cache-control': 'public, max-age=60, stale-while-revalidate=600',
    // What the page is about: a purge of one of these takes it out of the cache.
    'surrogate-key': 'front-page weather arrivals',
  })
  response.end(frontPage(edition, new Date()))
})

server.listen(process.env.PORT ?? 3000, () => console.log(`The press stands at port ${server.address().port}`))
process.on('SIGTERM', () => process.exit(0))
