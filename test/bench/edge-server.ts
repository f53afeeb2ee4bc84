import { randomBytes } from 'node:crypto'
import { createServer, type AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEdge, type EdgeOptions } from '../../server/edge/server.ts'
import { createEdgeWorkers } from '../../server/edge/workers/edge-workers.ts'
import { createRequestRecorder } from '../../server/features/request-recorder.ts'
import { systemClock } from '../../server/lib/clock.ts'
import { silentLog } from '../../server/lib/log.ts'
import { createSealer } from '../../server/store/sealer.ts'
import { openStore } from '../../server/store/store.ts'

// The edge as a separate process: `node edge-server.ts UPSTREAM_PORT[,PORT...] [ordinary] [cache] [disk] [metrics] [requests] [workers=N]`; prints its port and that
// of its purges, which answers a line with a tag with the number of purged objects.
const [, , upstreams = '', ...flags] = process.argv
const [first = 0, ...others] = upstreams.split(',').map(Number)
const directory = flags.includes('disk') ? mkdtempSync(join(tmpdir(), 'homeport-bench-cache-')) : null
// The settings of a new instance, unless everything must stay in memory.
const memory_bytes = () => (directory ? 128 : 1024) * 2 ** 20
const cache = { directory, memory_bytes, disk_bytes: () => 1024 * 2 ** 20 }
const workers = Number(flags.find((flag) => flag.startsWith('workers='))?.slice('workers='.length) ?? 0)
const options: EdgeOptions = {
  log: silentLog,
  isMetricsEnabled: () => flags.includes('metrics'),
  isRequestLogEnabled: () => flags.includes('requests'),
  ...(flags.includes('cache') ? { cache } : {}),
}
const program = { node_path: process.execPath, script: join(import.meta.dirname, '../../server/edge/workers/worker.ts'), env: {} }
const edge = workers > 0 ? createEdgeWorkers({ ...options, workers, program }) : createEdge({ ...options, fast_path: !flags.includes('ordinary') })
const folder = flags.includes('requests') ? mkdtempSync(join(tmpdir(), 'homeport-bench-requests-')) : null
const store = folder === null ? undefined : await openStore({ data_dir: folder, after_crash: false })
const recorder =
  store &&
  createRequestRecorder({ edge: edge.requests, store: store.requests, sealer: createSealer(randomBytes(32)), clock: systemClock, log: silentLog })
const { port } = await edge.listen({ host: '127.0.0.1', port: 0 })
await edge.setRoute('app.localhost', {
  kind: 'upstream',
  host: '127.0.0.1',
  port: first,
  ...(others.length > 0 && { others: others.map((other) => ({ host: '127.0.0.1', port: other })) }),
  project_id: 'prj_bench',
  project_name: 'bench',
  deployment_id: null,
  dashboard_url: 'http://localhost:4600/app/',
})
const control = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => {})
  socket.on('data', (bytes) => {
    void edge.cache.purge('prj_bench', { tags: [bytes.toString().trim()] }).then((purged) => socket.write(`${purged}\n`))
  })
})
control.listen(0, '127.0.0.1', () => console.log(`${port} ${(control.address() as AddressInfo).port}`))
process.on('SIGTERM', () => {
  void stop().then(() => process.exit(0))
})

async function stop(): Promise<void> {
  await edge.close()
  await recorder?.close()
  await store?.close()
  for (const created of [directory, folder]) if (created !== null) rmSync(created, { recursive: true, force: true })
}
