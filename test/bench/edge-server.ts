import { createEdge } from '../../server/edge/index.ts'
import { silentLog } from '../../server/lib/log.ts'

// The edge as a process of its own: `node edge-server.ts UPSTREAM_PORT`; prints its port.
const edge = createEdge({ log: silentLog, fast_path: process.argv[3] !== 'ordinary' })
const { port } = await edge.listen({ host: '127.0.0.1', port: 0 })
await edge.setRoute('app.localhost', {
  kind: 'upstream',
  host: '127.0.0.1',
  port: Number(process.argv[2]),
  project_id: 'prj_bench',
  project_name: 'bench',
  deployment_id: null,
  dashboard_url: 'http://localhost:4600/app/',
})
console.log(port)
process.on('SIGTERM', () => void edge.close().then(() => process.exit(0)))
