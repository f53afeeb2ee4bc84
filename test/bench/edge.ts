import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createEdge, type Edge } from '../../server/edge/server.ts'
import { createEdgeWorkers } from '../../server/edge/workers/edge-workers.ts'
import { createRequestRecorder } from '../../server/features/request-recorder.ts'
import { systemClock } from '../../server/lib/clock.ts'
import { silentLog } from '../../server/lib/log.ts'
import { createSealer } from '../../server/store/sealer.ts'
import { openStore } from '../../server/store/store.ts'
import { routeOwner, upstreamRoute } from '../support/edge.ts'
import { childrenTime_s, compare, pinToOneCore, printRows, measureRequests, runWrk, type Measure } from './compare.ts'
import { isInstalled, startFileServer, startNodeProgram, startPeers, stop, type Peer } from './peers.ts'
import { median, type BenchRow } from './row.ts'

const run = promisify(execFile)

const fileMeasures: Measure[] = [
  {
    name: 'edge 1 kB',
    path: '/1k.json',
    connections: 64,
    unit: 'req/s',
    load: measureRequests,
    warmup_s: 1,
    bars: { caddy: 1.0, 'nginx p99': 0.67 },
  },
  { name: 'edge 100 kB', path: '/100k.bin', connections: 64, unit: 'req/s', load: measureRequests, bars: { caddy: 1.0 } },
  { name: 'edge 10 MB', path: '/10m.bin', connections: 8, unit: 'req/s', load: measureRequests, bars: {} },
]

const targetMeasure: Measure = {
  name: 'edge 3 targets of one program, 1 kB',
  path: '/1k.json',
  connections: 64,
  unit: 'req/s',
  load: measureRequests,
  bars: { 'one target': 0.95 },
}

const programMeasure: Measure = { ...targetMeasure, name: 'edge 3 targets, 1 kB', bars: {} }

const streamMeasures: Measure[] = [
  { name: 'edge events', path: '/events', connections: 64, unit: 'lines/s', load: measureEvents, bars: {} },
  { name: 'edge WebSocket', path: '/', connections: 64, unit: 'messages/s', load: measureMessages, bars: {} },
]

const hitMeasures: Measure[] = [
  { name: 'cache hit 1 kB', path: '/1k.json', connections: 64, unit: 'req/s', load: measureRequests, bars: { varnish: 1.0 } },
  { name: 'cache hit 100 kB', path: '/100k.bin', connections: 64, unit: 'req/s', load: measureRequests, bars: {} },
]

interface EdgeBenchOptions {
  rounds?: number
  seconds?: number
  only?: RegExp
}

/**
 * The edge with one worker, and with cache, metrics and request log on, compared with nginx, Caddy and HAProxy in front of the same upstream, whose responses cannot be
 * stored: medians of interleaved rounds. Only the ratios are meaningful, especially on a busy machine.
 */
export const benchEdge = (options: EdgeBenchOptions = {}): Promise<BenchRow[]> =>
  withPeers('edge', async (folder, started) => {
    const files = await startFileServer(folder, 'no-store')
    const streams = await startNodeProgram('edge-upstream.ts')
    started.push(files, streams)
    const rows: BenchRow[] = []
    for (const [upstream, list, probe] of [
      [files.port, fileMeasures, '/1k.json'],
      [streams.port, streamMeasures, '/'],
    ] as const) {
      const ours = { name: 'homeport', ...(await startNodeProgram('edge-server.ts', String(upstream), 'cache', 'metrics', 'requests', 'workers=1')) }
      started.push(ours)
      const { peers, missing } = await startPeers(['nginx', 'caddy', 'haproxy'], { folder, upstream, caching: false, probe })
      started.push(...peers)
      for (const measure of list.filter(({ name }) => options.only?.test(name) ?? true))
        rows.push(...(await compare(measure, [ours, ...peers], options.rounds ?? 5, options.seconds ?? 2)), ...missingRows(missing, measure))
    }
    return [...rows, ...(await compareTargets(folder, started, options))]
  })

/**
 * An app with three targets, compared with one: first three ports of one program, so that the machine has the same work, then three programs, which
 * share its cores with the edge and the load.
 */
async function compareTargets(folder: string, started: { process: Peer['process'] }[], options: EdgeBenchOptions): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  for (const [measure, programs] of [
    [targetMeasure, 1],
    [programMeasure, 3],
  ] as const) {
    if (options.only?.test(measure.name) === false) continue
    const apps = await Promise.all(Array.from({ length: programs }, () => startFileServer(folder, 'no-store', 3 / programs)))
    started.push(...apps)
    const ports = apps.flatMap((app) => app.ports)
    const startEdge = (...targets: number[]) => startNodeProgram('edge-server.ts', targets.join(','), 'cache', 'metrics', 'requests')
    const three = { name: 'homeport', ...(await startEdge(...ports)) }
    const one = { name: 'one target', ...(await startEdge(ports[0]!)) }
    started.push(three, one)
    rows.push(...(await compare(measure, [three, one], options.rounds ?? 5, options.seconds ?? 2)))
  }
  return rows
}

/** Stored responses, compared with Varnish, nginx and HAProxy, each on one core. */
export const benchCacheHits = (options: EdgeBenchOptions = {}): Promise<BenchRow[]> =>
  withPeers('cache hit', async (folder, started) => {
    const files = await startFileServer(folder, 'public, max-age=86400')
    started.push(files)
    const ours = { name: 'homeport', ...(await startNodeProgram('edge-server.ts', String(files.port), 'cache', 'metrics', 'requests')) }
    started.push(ours)
    const { peers, missing } = await startPeers(['varnish', 'nginx', 'haproxy', 'caddy'], { folder, upstream: files.port, caching: true })
    started.push(...peers)
    const is_pinned = pinToOneCore([ours, ...peers])
    const rows: BenchRow[] = []
    for (const measure of hitMeasures.filter(({ name }) => options.only?.test(name) ?? true))
      rows.push(
        ...(await compare({ ...measure, is_pinned }, [ours, ...peers], options.rounds ?? 5, options.seconds ?? 2)),
        ...missingRows(missing, measure),
      )
    return rows
  })

/** Edge workers, compared with an edge in one process, and the cost of the request log in them. */
export const benchWorkers = (options: EdgeBenchOptions = {}): Promise<BenchRow[]> =>
  withPeers('edge workers', async (folder, started) => {
    const files = await startFileServer(folder, 'public, max-age=86400')
    started.push(files)
    const startEdge = async (name: string, workers: number): Promise<Peer> => {
      const edge = { name, ...(await startNodeProgram('edge-server.ts', String(files.port), 'cache', 'metrics', 'requests', `workers=${workers}`)) }
      started.push(edge)
      return edge
    }
    // Two workers on two cores of their own serve 1.6 times as much as one on one. Here the load generator has one of the cores.
    const measure = { ...targetMeasure, name: 'edge workers 2, hit 1 kB', bars: { 'one worker per cpu': 0.8 } }
    const peers = [await startEdge('homeport', 2), await startEdge('one worker', 1), await startEdge('in process', 0)]
    const rows = await compare(measure, peers, options.rounds ?? 5, options.seconds ?? 2)
    for (const { process } of peers) await stop(process)
    for (const workers of [1, 2]) rows.push(...(await compareRequestLogOfWorkers(folder, files.port, workers, options.seconds ?? 30)))
    return rows
  })

async function compareRequestLogOfWorkers(folder: string, upstream: number, workers: number, seconds: number): Promise<BenchRow[]> {
  let isEnabled = () => false
  const edge = createEdgeWorkers({
    workers,
    program: workerProgram,
    log: silentLog,
    isMetricsEnabled: () => true,
    isRequestLogEnabled: () => isEnabled(),
    cache: memoryCache,
  })
  const { recorder, close } = await openRecorder(join(folder, `workers-${workers}`), edge)
  const options = {
    name: `request log on, workers ${workers}`,
    most: 1.05,
    edge,
    upstream,
    seconds,
    turn_ms: 1000,
    settle_ms: 300,
    workersTime_s: () => childrenTime_s('workers/worker.ts'),
    onSwitched: edge.applySettings,
  }
  const rows = await compareSwitched(options, (_, turn) => {
    isEnabled = turn.isOn
    return async () => {
      // With what the workers have counted so far.
      await recorder.flush()
      for (const { requests } of edge.metrics.take()) turn.count(requests)
    }
  })
  await close()
  return rows
}

/** The cost of counting and timing every request that is forwarded. */
export const benchMetrics = ({ seconds = 30 }: EdgeBenchOptions = {}): Promise<BenchRow[]> =>
  withPeers('metrics', async (folder, started) => {
    const files = await startFileServer(folder, 'no-store')
    started.push(files)
    let measured = () => false
    const edge = createEdge({ log: silentLog, isMetricsEnabled: () => measured(), cache: memoryCache })
    return compareSwitched({ name: 'metrics on, 1 kB', most: 1.03, edge, upstream: files.port, seconds }, (isOn) => {
      // A counted request checks the setting twice: at its start and at its response.
      measured = () => isOn(0.5)
      return () => void edge.metrics.take()
    })
  })

/** The cost of logging every request, storage included, and of also counting it, of responses from the cache, which cost least themselves. */
export const benchRequestLog = ({ seconds = 30 }: EdgeBenchOptions = {}): Promise<BenchRow[]> =>
  withPeers('request log', async (folder, started) => {
    const files = await startFileServer(folder, 'public, max-age=86400')
    started.push(files)
    const rows: BenchRow[] = []
    for (const [name, isCounting] of [
      ['request log on, cache hit 1 kB', true],
      ['request log and metrics on, cache hit 1 kB', false],
    ] as const) {
      let ask: (share: number) => boolean = () => false
      let isOn = () => false
      const edge = createEdge({
        log: silentLog,
        isMetricsEnabled: () => isCounting || isOn(),
        isRequestLogEnabled: () => ask(1),
        cache: memoryCache,
      })
      const { recorder, close } = await openRecorder(join(folder, String(isCounting)), edge)
      // A turn is a whole second, because the number of records in a second is limited.
      rows.push(
        ...(await compareSwitched({ name, most: 1.05, edge, upstream: files.port, seconds, turn_ms: 1000 }, (asked, turn) => {
          ask = asked
          isOn = turn.isOn
          return async () => {
            edge.metrics.take()
            await recorder.flush()
          }
        })),
      )
      await close()
    }
    return rows
  })

/** The cost of capturing requests beside logging them: masking, encryption and storage included, of as many as are captured in a second. */
export const benchCapture = ({ seconds = 30 }: EdgeBenchOptions = {}): Promise<BenchRow[]> =>
  withPeers('capture', async (folder, started) => {
    const rows: BenchRow[] = []
    for (const [name, cacheControl] of [
      ['capture on, 1 kB', 'no-store'],
      ['capture on, cache hit 1 kB', 'public, max-age=86400'],
    ] as const) {
      const files = await startFileServer(folder, cacheControl)
      started.push(files)
      let count = () => {}
      const edge = createEdge({
        log: silentLog,
        isMetricsEnabled: () => true,
        isRequestLogEnabled: () => (count(), true),
        cache: memoryCache,
      })
      const { recorder, close } = await openRecorder(join(folder, cacheControl.slice(0, 6)), edge)
      const rule = { until_ms: Infinity, path: null, method: null, status: null, masked_fields: [] }
      // A turn is a whole second, because captures are limited in each.
      const options = { name, most: 1.15, edge, upstream: files.port, seconds, turn_ms: 1000 }
      rows.push(
        ...(await compareSwitched(options, (isOn) => {
          let wasOn = false
          count = () => {
            const isCapturing = isOn(1)
            if (isCapturing === wasOn) return
            wasOn = isCapturing
            edge.requests.setCapture(routeOwner.project_id, isCapturing ? rule : null)
          }
          return () => recorder.flush()
        })),
      )
      await close()
    }
    return rows
  })

async function openRecorder(data_dir: string, edge: Edge) {
  const store = await openStore({ data_dir, after_crash: false })
  const sealer = createSealer(randomBytes(32))
  const recorder = createRequestRecorder({ edge: edge.requests, store: store.requests, sealer, clock: systemClock, log: silentLog })
  return {
    recorder,
    async close() {
      await recorder.close()
      await store.close()
    },
  }
}

const workerProgram = { node_path: process.execPath, script: join(import.meta.dirname, '../../server/edge/workers/worker.ts'), env: {} }

const memoryCache = { directory: null, memory_bytes: () => 2 ** 30, disk_bytes: () => 0 }

/**
 * One edge under a steady load, with a part on and off in turns, in processor time per request. Two processes side by side would measure the
 * machine rather than the difference. `prepare` gets what the edge asks for each request, with the share of a request that one question is while it is
 * on, and returns what stores or drops the results of a turn, which is part of the cost.
 */
async function compareSwitched(
  options: {
    name: string
    most: number
    edge: Edge
    upstream: number
    seconds: number
    turn_ms?: number
    settle_ms?: number
    workersTime_s?: () => number
    onSwitched?: () => void
  },
  prepare: (isOn: (share: number) => boolean, turn: { isOn(): boolean; count(requests: number): void }) => () => void | Promise<void>,
): Promise<BenchRow[]> {
  const { name, most, edge, seconds, turn_ms = 100, settle_ms = 30, workersTime_s = () => 0, onSwitched } = options
  let isOn = true
  let requests = 0
  const turn = { isOn: () => isOn, count: (more: number) => void (requests += more) }
  const finishTurn = prepare((share) => {
    turn.count(isOn ? share : 1)
    return isOn
  }, turn)
  const { port } = await edge.listen({ host: '127.0.0.1', port: 0 })
  await edge.setRoute('app.localhost', upstreamRoute(options.upstream))
  const load = run('wrk', [
    '-t1',
    '-c64',
    `-d${seconds + 2 + Math.ceil(turn_ms / 250)}s`,
    '-H',
    'Host: app.localhost',
    `http://127.0.0.1:${port}/1k.json`,
  ])
  await delay(1_000)
  /** Microseconds of processor time per request over a turn. */
  const cost = async (on: boolean) => {
    isOn = on
    onSwitched?.()
    // Requests that started earlier still use the previous setting: one in forty, and more on a busy machine.
    await delay(settle_ms)
    await finishTurn()
    requests = 0
    const before = process.cpuUsage()
    const before_s = workersTime_s()
    await delay(turn_ms)
    await finishTurn()
    const { user, system } = process.cpuUsage(before)
    return (user + system + (workersTime_s() - before_s) * 1e6) / requests
  }
  const rounds: { on: number; off: number }[] = []
  for (const endsAt = performance.now() + seconds * 1000; performance.now() < endsAt;) {
    const [on, off, offAgain, onAgain] = [await cost(true), await cost(false), await cost(false), await cost(true)]
    rounds.push({ on: (on + onAgain) / 2, off: (off + offAgain) / 2 })
  }
  await load
  await edge.close()
  const ratio = median(rounds.map(({ on, off }) => on / off))
  const row = { name, unit: 'us of a processor', ratios: {} }
  return [
    {
      ...row,
      who: 'homeport',
      value: median(rounds.map(({ on }) => on)),
      ratios: { without: ratio },
      bar: `under ${most} x without`,
      ok: ratio < most,
    },
    { ...row, who: 'without', value: median(rounds.map(({ off }) => off)) },
  ]
}

async function withPeers(name: string, bench: (folder: string, started: { process: Peer['process'] }[]) => Promise<BenchRow[]>): Promise<BenchRow[]> {
  const lacks = ['nginx', 'wrk'].filter((program) => !isInstalled(program))
  if (lacks.length > 0)
    return [
      { name, who: 'homeport', value: null, unit: 'req/s', ratios: {}, note: `${lacks.join(' and ')} not installed: test/machine/engine.sh bench` },
    ]
  const folder = mkdtempSync(join(tmpdir(), 'homeport-bench-edge-'))
  const started: { process: Peer['process'] }[] = []
  try {
    return await bench(folder, started)
  } finally {
    for (const one of started.toReversed()) await stop(one.process)
    rmSync(folder, { recursive: true, force: true })
  }
}

const missingRows = (missing: { name: string; why: string }[], measure: Measure): BenchRow[] =>
  missing.map(({ name, why }) => ({ name: measure.name, who: name, value: null, unit: measure.unit, ratios: {}, note: why }))

/** Lines by their bytes: 100 and the framing of a chunk. A server that joins chunks has up to 6 % less. */
async function measureEvents(measure: Measure, peer: Peer, seconds: number): Promise<{ rate: number; count: number }> {
  const [, amount, unit] = /Transfer\/sec:\s+([\d.]+)([KMG]?)B/.exec(await runWrk(measure, peer, seconds)) ?? []
  const rate = (Number(amount) * { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }[unit as '' | 'K' | 'M' | 'G']) / 106
  return { rate, count: rate * seconds }
}

async function measureMessages(measure: Measure, peer: Peer, seconds: number): Promise<{ rate: number; count: number }> {
  const program = join(import.meta.dirname, 'edge-sockets.ts')
  const { stdout } = await run(process.execPath, [program, String(peer.port), String(measure.connections), String(seconds)])
  return { rate: Number(stdout), count: Number(stdout) * seconds }
}

// `node test/bench/edge.ts edge|hits|meter|log [ROUNDS] [SECONDS] [WHICH]`
if (import.meta.main) {
  const [, , part = 'edge', rounds = 5, seconds = 2, only = ''] = process.argv
  const bench = { edge: benchEdge, hits: benchCacheHits, meter: benchMetrics, log: benchRequestLog, capture: benchCapture }[part]
  printRows((await bench?.({ rounds: Number(rounds), seconds: Number(seconds), only: new RegExp(only) })) ?? [])
}
