import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { RawHttpClient } from '../support/raw-http-client.ts'
import { residentMemory_mb, printRows } from './compare.ts'
import { isInstalled, hasXkey, startNodeProgram, startPeers, stop, type Peer } from './peers.ts'
import { median, type BenchRow } from './row.ts'

/** Each tag is purged once: the first five tenths are for 10 000, hundredths of the others for 1 000, the last tenth for single ones. */
const sizes = [
  { count: 1, tag: (round: number) => `one-${9 + 10 * round}` },
  { count: 1_000, tag: (round: number) => `hundredth-${5 + 10 * round}` },
  { count: 10_000, tag: (round: number) => `tenth-${round}` },
]

interface Contestant extends Peer {
  /** The number of purged objects, once none of them is served any more. */
  purge(tag: string): Promise<number>
  memory_mb: number
}

/**
 * Purges by a tag of 1, 1 000 and 10 000 of 100 000 stored objects of 1 kB, compared with Varnish and xkey; how much longer a
 * request takes meanwhile; and the memory of the 100 000.
 */
export async function benchPurge(options: { objects?: number; rounds?: number } = {}): Promise<BenchRow[]> {
  const objects = options.objects ?? 100_000
  const rounds = options.rounds ?? 4
  const folder = mkdtempSync(join(tmpdir(), 'homeport-bench-purge-'))
  const started: { process: Peer['process'] }[] = []
  try {
    const app = await startNodeProgram('tagged.ts')
    started.push(app)
    const ours = await startNodeProgram('edge-server.ts', String(app.port), 'cache', 'disk', 'metrics')
    started.push(ours)
    const contestants: Contestant[] = [{ name: 'homeport', ...ours, ...createHomeportPurge(ours.ports[1] ?? 0), memory_mb: 0 }]
    const missingReason = isInstalled('varnishd') ? (hasXkey() ? undefined : 'varnish-modules not installed') : 'not installed'
    if (missingReason === undefined) {
      const { peers } = await startPeers(['varnish'], { folder, upstream: app.port, caching: true, probe: '/o/0' })
      started.push(...peers)
      contestants.push(...peers.map((peer) => ({ ...peer, purge: createXkeyPurge(peer.port), memory_mb: 0 })))
    }
    for (const one of contestants) {
      const begun = performance.now()
      await fillCache(one.port, objects)
      console.error(`  ${one.name}: filled in ${((performance.now() - begun) / 1000).toFixed(0)} s`)
      one.memory_mb = residentMemory_mb(one.process.pid ?? 0)
    }
    // Deferred work of the filling (disk writes, compilation) must not count for a purge.
    await delay(3_000)
    for (const one of contestants) await one.purge('nobody')
    const readings = new Map<string, { took: number[]; longest: number[] }>()
    for (let round = 0; round < rounds; round++) {
      for (const { count, tag } of sizes) {
        for (const one of contestants) {
          const reading = readings.get(`${one.name} ${count}`) ?? { took: [], longest: [] }
          readings.set(`${one.name} ${count}`, reading)
          const quiet = await measureSlowestRequest(one.port, () => delay(30))
          let gone = 0
          let took = 0
          const busy = await measureSlowestRequest(one.port, async () => {
            const begun = performance.now()
            gone = await one.purge(tag(round))
            took = performance.now() - begun
          })
          const due = (count * objects) / 100_000
          if (gone !== Math.max(1, due)) throw new Error(`${one.name} purged ${gone} and not ${due} by ${tag(round)}`)
          reading.took.push(took)
          reading.longest.push(busy - quiet)
        }
      }
    }
    return [
      ...sizes.flatMap(({ count }) => purgeRows(count, contestants, readings, missingReason)),
      ...memoryRows(objects, contestants, missingReason),
    ]
  } finally {
    for (const one of started.toReversed()) await stop(one.process)
    rmSync(folder, { recursive: true, force: true })
  }
}

function purgeRows(
  count: number,
  contestants: Contestant[],
  readings: Map<string, { took: number[]; longest: number[] }>,
  why: string | undefined,
): BenchRow[] {
  const name = `purge ${count} of 100 000 by tag`
  const of = (who: string, what: 'took' | 'longest') => median(readings.get(`${who} ${count}`)?.[what] ?? [])
  const slowed = of('homeport', 'longest')
  const ours: BenchRow = {
    name,
    who: 'homeport',
    value: of('homeport', 'took'),
    unit: 'ms',
    ratios: {},
    note: `requests ${slowed.toFixed(1)} ms slower`,
  }
  if (why !== undefined) return [ours, { name, who: 'varnish', value: null, unit: 'ms', ratios: {}, note: why }]
  // More is better, as in every row.
  ours.ratios = { varnish: of('varnish', 'took') / of('homeport', 'took') }
  ours.bar = 'not slower than varnish, no request 2 ms slower'
  ours.ok = contestants.length > 1 && of('homeport', 'took') <= of('varnish', 'took') && slowed <= 2
  const theirs = `requests ${of('varnish', 'longest').toFixed(1)} ms slower`
  return [
    ours,
    { name, who: 'varnish', value: of('varnish', 'took'), unit: 'ms', ratios: {}, note: theirs },
    { name, who: 'nginx', value: null, unit: 'ms', ratios: {}, note: 'knows no tags' },
    { name, who: 'haproxy', value: null, unit: 'ms', ratios: {}, note: 'knows no tags' },
  ]
}

function memoryRows(objects: number, contestants: Contestant[], why: string | undefined): BenchRow[] {
  const name = `memory at ${objects} objects of 1 kB`
  const [ours, theirs] = contestants
  const row: BenchRow = { name, who: 'homeport', value: ours?.memory_mb ?? null, unit: 'MB', ratios: {} }
  if (!ours || !theirs) return [row, { name, who: 'varnish', value: null, unit: 'MB', ratios: {}, ...(why === undefined ? {} : { note: why }) }]
  return [
    { ...row, ratios: { varnish: ours.memory_mb / theirs.memory_mb }, bar: 'under varnish', ok: ours.memory_mb < theirs.memory_mb },
    { name, who: 'varnish', value: theirs.memory_mb, unit: 'MB', ratios: {} },
  ]
}

/** Requests every object once, over a few connections. */
async function fillCache(port: number, objects: number): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    const client = new RawHttpClient(port)
    while (next < objects) {
      const batch = Array.from({ length: Math.min(16, objects - next) }, () => client.request(`GET /o/${next++} HTTP/1.1\r\nHost: app.localhost`))
      for (const response of await Promise.all(batch)) if (response.status !== 200) throw new Error(`filling answered ${response.status}`)
    }
    client.destroy()
  }
  await Promise.all(Array.from({ length: 8 }, lane))
}

/** The longest time that a request for a stored object took while `what` ran. */
async function measureSlowestRequest(port: number, what: () => Promise<unknown>): Promise<number> {
  const wires = [new RawHttpClient(port), new RawHttpClient(port)]
  let longest = 0
  let isOver = false
  const ask = async (client: RawHttpClient): Promise<void> => {
    while (!isOver) {
      const begun = performance.now()
      await client.request('GET /o/8 HTTP/1.1\r\nHost: app.localhost')
      longest = Math.max(longest, performance.now() - begun)
    }
    client.destroy()
  }
  for (const client of wires) await client.request('GET /o/8 HTTP/1.1\r\nHost: app.localhost')
  const lanes = wires.map(ask)
  await what()
  // Deferred work of a purge must not be noticeable either.
  await delay(10)
  isOver = true
  await Promise.all(lanes)
  return longest
}

const createHomeportPurge = (port: number) => {
  const send = createLineClient(port)
  return { purge: async (tag: string) => Number(await send(`${tag}\n`)) }
}

/** The reason phrase of its response is the count. */
const createXkeyPurge = (port: number) => {
  const send = createLineClient(port)
  return async (tag: string) =>
    Number(/^HTTP\/1\.1 200 (\d+)/.exec(await send(`PURGE / HTTP/1.1\r\nHost: app.localhost\r\nKey: ${tag}\r\n\r\n`))?.[1])
}

/** One request at a time and the first chunk of its response, over a kept connection, because connecting is not part of a purge. */
function createLineClient(port: number): (text: string) => Promise<string> {
  let socket: Socket | undefined
  return (text) =>
    new Promise((resolve, reject) => {
      socket ??= connect({ port, host: '127.0.0.1', noDelay: true })
        .on('close', () => (socket = undefined))
        .unref()
      const failed = (error: Error): void => reject(error)
      socket.once('error', failed)
      socket.once('data', (bytes) => {
        socket?.off('error', failed)
        resolve(bytes.toString('latin1'))
      })
      socket.write(text)
    })
}

// `node test/bench/purge.ts [ROUNDS]`
if (import.meta.main) printRows(await benchPurge({ rounds: Number(process.argv[2] ?? 4) }))
