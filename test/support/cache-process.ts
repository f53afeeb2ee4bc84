/** An edge with a disk cache, to be killed: `node cache-process.ts FOLDER` prints its port. */
import { startApp, startEdge } from './edge.ts'

const app = await startApp((request, response) => response.writeHead(200, { 'cache-control': 'max-age=3600' }).end(`${request.url} `.repeat(3000)))
const edge = await startEdge({ cache: { directory: process.argv[2] ?? '', memory_bytes: () => 2 ** 20, disk_bytes: () => 64 * 2 ** 20 } })
await edge.routeToPort(app.port)
console.log(edge.port)
