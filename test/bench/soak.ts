import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { createGzip } from 'node:zlib'
import { randomFillSync } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { pack } from 'tar-stream'
import { createApiClient } from '../../server/cli/client.ts'
import { openStalledReader } from '../support/event-stream.ts'
import { makeRepository } from '../support/repository.ts'
import { until } from '../support/until.ts'
import { type BenchInstance, residentMemory_mb, startInstance } from './instance.ts'
import type { BenchRow } from './row.ts'

/** Between the end of the work and the measurement of what remains. */
const settle_ms = 20_000
const burst_lines = 20_000
const streams = 20

const server = `const lines = () => { for (let n = 0; n < ${burst_lines}; n++) console.log('line ' + n + ' of a burst') }
require('node:http').createServer((q, r) => { if (q.url === '/burst') lines(); r.end('VERSION') }).listen(process.env.PORT, process.env.HOST)`
const manifest = (scripts: Record<string, string>) => JSON.stringify({ name: 'soak', private: true, scripts })
const apps: Record<string, (version: number) => Record<string, string>> = {
  site: (version) => ({ 'index.html': `version ${version}` }),
  server: (version) => ({ 'package.json': manifest({ start: 'node server.js' }), 'server.js': server.replace('VERSION', `version ${version}`) }),
  built: (version) => ({
    'package.json': manifest({ build: 'node build.js', start: 'node server.js' }),
    'build.js': `for (let n = 0; n < 2000; n++) console.log('compiled module ' + n); require('node:fs').writeFileSync('built.txt', 'x')`,
    'server.js': server.replace('VERSION', `version ${version}`),
  }),
}

/** On a signal, writes the number of live objects of each of these classes, after a garbage collection. */
const probeScript = (file: string) => `
import { queryObjects } from 'node:v8'
import { Socket, Server } from 'node:net'
import { writeFileSync, renameSync, ReadStream, WriteStream } from 'node:fs'
import { ChildProcess } from 'node:child_process'
const timer = setTimeout(() => {}, 0)
const classes = { timers: timer.constructor, sockets: Socket, servers: Server, 'read streams': ReadStream, 'write streams': WriteStream, 'child processes': ChildProcess, 'abort signals': AbortSignal }
process.on('SIGUSR2', () => {
  const counts = Object.fromEntries(Object.entries(classes).map(([name, one]) => [name, queryObjects(one, { format: 'count' })]))
  counts.listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)
  writeFileSync(${JSON.stringify(`${file}.part`)}, JSON.stringify(counts))
  renameSync(${JSON.stringify(`${file}.part`)}, ${JSON.stringify(file)})
})`

/**
 * Deployments of three apps, uploads, bursts of log lines, streams that are opened and closed: what remains of them in the memory of the
 * platform once it is idle again, and in its open files, timers, sockets and listeners.
 */
export async function benchSoak(options: { deployments?: number; upload_mb?: number; uploads?: number } = {}): Promise<BenchRow[]> {
  const { deployments = 300, upload_mb = 200, uploads = 3 } = options
  const file = join(tmpdir(), `homeport-soak-${process.pid}.json`)
  const instance = await startInstance({
    runtime: 'process',
    node_flags: ['--import', `data:text/javascript,${encodeURIComponent(probeScript(file))}`],
  })
  const repositories = Object.fromEntries(Object.keys(apps).map((slug) => [slug, makeRepository({})]))
  const slugs = Object.keys(apps)
  try {
    await delay(settle_ms / 4)
    const started_mb = residentMemory_mb(instance.pid)
    for (const slug of slugs) await instance.client.createProject({ slug, repo_url: repositories[slug]?.url ?? '' })
    const round = async (n: number) => {
      const slug = slugs[n % slugs.length] ?? ''
      repositories[slug]?.commit(apps[slug]?.(n) ?? {})
      const { id } = await instance.client.deploy(slug)
      const { status, error } = await instance.client.waitForEnd(slug, id)
      if (status !== 'ready') throw new Error(`${slug} ended as ${status}: ${JSON.stringify(error)}`)
      if (slug === 'server') await instance.client.fetchEdge('server.localhost', '/burst')
      await openAndCloseStreams(instance, slug)
    }
    // Objects that are created once, for the first of a kind, are not growth.
    for (let n = 0; n < 2 * slugs.length; n++) await round(n)
    await uploadSite(instance, 1)
    const before = await readObjectCounts(instance, file)
    for (let n = 0; n < deployments; n++) {
      await round(n + 2 * slugs.length)
      if (n % Math.ceil(deployments / uploads) === 0) await uploadSite(instance, upload_mb)
    }
    await delay(settle_ms)
    const grown = residentMemory_mb(instance.pid) - started_mb
    const after = await readObjectCounts(instance, file)
    const note = `${deployments} deployments, ${uploads} uploads of ${upload_mb} MB`
    const row = { who: 'homeport', ratios: {} }
    return [
      { ...row, name: 'soak, memory at idle above the start', value: grown, unit: 'MB', bar: 'at most 40 MB', ok: grown <= 40, note },
      ...Object.entries(after).map(([name, count]): BenchRow => {
        const more = count - (before[name] ?? 0)
        // A few come and go by themselves: a pending flush, a kept connection.
        return { ...row, name: `soak, ${name}`, value: more, unit: 'more', bar: 'at most 5', ok: more <= 5, note: `${count} at the end` }
      }),
    ]
  } finally {
    await instance.remove()
    rmSync(file, { force: true })
    for (const one of Object.values(repositories)) one.remove()
  }
}

async function openAndCloseStreams({ instance }: BenchInstance, slug: string): Promise<void> {
  const url = `${instance.api_url}/v1/projects/${slug}/runtime-logs?lines=100`
  const open = Array.from({ length: streams }, () => openStalledReader(url, instance.token))
  await delay(20)
  for (const one of open) one.end()
}

/** A site with one incompressible file. */
async function uploadSite({ client, instance }: BenchInstance, mb: number): Promise<void> {
  const archive = pack()
  const packed = createGzip({ level: 1 })
  const sent = pipeline(archive as AsyncIterable<Buffer>, packed)
  const fill = async () => {
    archive.entry({ name: 'index.html' }, 'uploaded')
    const big = archive.entry({ name: 'big.bin', size: mb * 2 ** 20 })
    for (let n = 0; n < mb; n++)
      if (!big.write(randomFillSync(Buffer.alloc(2 ** 20)))) await new Promise((resolve) => big.once('drain', () => resolve(undefined)))
    big.end(null)
    archive.finalize()
  }
  const line = createApiClient({ url: instance.api_url, token: instance.token })
  const [{ deployment_id }] = await Promise.all([
    line.upload('uploadProject', { params: { slug: 'site' } }, packed, new AbortController().signal),
    fill(),
    sent,
  ])
  await client.waitForEnd('site', deployment_id)
}

async function readObjectCounts({ pid }: BenchInstance, file: string): Promise<Record<string, number>> {
  rmSync(file, { force: true })
  process.kill(pid, 'SIGUSR2')
  const text = await until(() => readFileSync(file, 'utf8'), { what: 'the counts of the platform' })
  // A scan of /proc has hundreds of files open for a moment.
  let open_files = Infinity
  for (let look = 0; look < 10; look++) {
    open_files = Math.min(open_files, readdirSync(`/proc/${pid}/fd`).length)
    await delay(100)
  }
  return { ...(JSON.parse(text) as Record<string, number>), 'open files': open_files }
}

// `node test/bench/soak.ts [DEPLOYMENTS] [UPLOAD_MB]`
if (import.meta.main) {
  const { printRows } = await import('./compare.ts')
  const [, , deployments = '300', upload_mb = '200'] = process.argv
  printRows(await benchSoak({ deployments: Number(deployments), upload_mb: Number(upload_mb) }))
}
