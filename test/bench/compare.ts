import { execFile, execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { isInstalled, type Peer } from './peers.ts'
import { median, type BenchRow } from './row.ts'

const run = promisify(execFile)

export interface Measure {
  name: string
  path: string
  /** `app.localhost` by default. */
  host?: string
  connections: number
  unit: string
  load: (measure: Measure, peer: Peer, seconds: number) => Promise<LoadResult>
  /** Minimum ratios that must hold. */
  bars: Record<string, number>
  /** Seconds of load before each turn that are not counted, because a request log keeps ten times as many of the first requests after a pause. */
  warmup_s?: number
  /** The load generator stays off the core of the servers. */
  is_pinned?: boolean
}

interface LoadResult {
  rate: number
  count: number
  p99_ms?: number
}

/**
 * The servers run on one core, the load generator on the other, because a server with many threads would get more of the machine. Without
 * `taskset` (or a second core) nothing is pinned.
 */
export function pinToOneCore(peers: Peer[]): boolean {
  if (!isInstalled('taskset') || availableParallelism() < 2) return false
  for (const { pid } of peers.flatMap((peer) => [...processFamily(peer.process.pid ?? 0)])) pinToCores('0', pid)
  return true
}

/** Pins a process with all its threads to a list of cores, such as `0-3`. */
export const pinToCores = (cores: string, pid: number): void => void execFileSync('taskset', ['-acp', cores, String(pid)], { stdio: 'ignore' })

export const listChildren = (pid: number): number[] => [...processFamily(pid)].flatMap((one) => (one.pid === pid ? [] : [one.pid]))

/** Medians of interleaved rounds. */
export async function compare(measure: Measure, peers: Peer[], rounds: number, seconds: number): Promise<BenchRow[]> {
  const readings = new Map(peers.map((peer) => [peer.name, { rates: [] as number[], costs: [] as number[], p99s: [] as number[] }]))
  for (const peer of peers) await measure.load(measure, peer, 1)
  for (let round = 0; round < rounds; round++) {
    // In both orders, so that none gains from being first.
    for (const peer of round % 2 === 0 ? peers : peers.toReversed()) {
      if (measure.warmup_s) await measure.load(measure, peer, measure.warmup_s)
      const before = processorTime_s(peer.process.pid ?? 0)
      const { rate, count, p99_ms } = await measure.load(measure, peer, seconds)
      const used = processorTime_s(peer.process.pid ?? 0) - before
      const reading = readings.get(peer.name)
      reading?.rates.push(rate)
      reading?.costs.push((used * 1e6) / count)
      if (p99_ms !== undefined) reading?.p99s.push(p99_ms)
    }
  }
  const rateOf = (name: string): number => median(readings.get(name)?.rates ?? [])
  const costOf = (name: string): number => median(readings.get(name)?.costs ?? [])
  const p99Of = (name: string): number => median(readings.get(name)?.p99s ?? [])
  return peers.map((peer) => {
    const others = peers.filter((other) => other !== peer).map((other) => other.name)
    const ratios = Object.fromEntries(
      others.flatMap((other) => [
        [other, rateOf(peer.name) / rateOf(other)],
        [`${other} per cpu`, costOf(other) / costOf(peer.name)],
        ...(p99Of(peer.name) > 0 ? [[`${other} p99`, p99Of(other) / p99Of(peer.name)] as const] : []),
      ]),
    )
    const row: BenchRow = { name: measure.name, who: peer.name, value: rateOf(peer.name), unit: measure.unit, ratios, cpu_us: costOf(peer.name) }
    const p99s = readings.get(peer.name)?.p99s ?? []
    if (p99s.length > 0) row.note = `p99 ${median(p99s).toFixed(1)} ms`
    if (peer.name === 'homeport') {
      const activeBars = Object.entries(measure.bars).filter(([name]) => name in ratios)
      if (activeBars.length > 0) {
        row.bar = activeBars.map(([name, least]) => `at least ${least} x ${name}`).join(', ')
        row.ok = activeBars.every(([name, least]) => (ratios[name] ?? 0) >= least)
      }
    }
    return row
  })
}

/** Requests per second by wrk, and the 99th percentile of the latency. */
export async function measureRequests(measure: Measure, peer: Pick<Peer, 'name' | 'port'>, seconds: number): Promise<LoadResult> {
  const text = await runWrk(measure, peer, seconds)
  const failed = /Socket errors:.*|Non-2xx.*/.exec(text)
  if (failed) console.error(`${peer.name} ${measure.name}: ${failed[0]}`)
  const [, amount, unit] = /99%\s+([\d.]+)(us|ms|s)/.exec(text) ?? []
  const p99_ms = Number(amount) * { us: 0.001, ms: 1, s: 1000 }[(unit ?? 'ms') as 'us' | 'ms' | 's']
  return { rate: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]), count: Number(/(\d+) requests in/.exec(text)?.[1]), p99_ms }
}

export async function runWrk(measure: Measure, peer: Pick<Peer, 'name' | 'port'>, seconds: number): Promise<string> {
  const pinnedCommand = measure.is_pinned === true ? ['taskset', '-c', '1', 'wrk'] : ['wrk']
  const [command = 'wrk', ...before] = pinnedCommand
  const { stdout } = await run(command, [
    ...before,
    '-t1',
    `-c${measure.connections}`,
    `-d${seconds}s`,
    '--latency',
    '-H',
    `Host: ${measure.host ?? 'app.localhost'}`,
    `http://127.0.0.1:${peer.port}${measure.path}`,
  ])
  return stdout
}

/** CPU seconds of a process and its children. */
export function processorTime_s(pid: number): number {
  let sum = 0
  for (const { fields } of processFamily(pid)) {
    // Fields 14 and 15 of proc(5): user and system time in hundredths of a second.
    sum += (Number(fields[11]) + Number(fields[12])) / 100
  }
  return sum
}

/** CPU seconds of the children of this process that run a script. */
export function childrenTime_s(script: string): number {
  let sum = 0
  for (const { pid, fields } of processFamily(process.pid)) {
    if (pid !== process.pid && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(script)) sum += (Number(fields[11]) + Number(fields[12])) / 100
  }
  return sum
}

/** Resident memory of a process and its children, in MB. */
export function residentMemory_mb(pid: number): number {
  let pages = 0
  for (const { fields } of processFamily(pid)) pages += Number(fields[21])
  return (pages * 4096) / 2 ** 20
}

function* processFamily(pid: number): Generator<{ pid: number; fields: string[] }> {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'latin1')
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
      // Field 4: the parent.
      if (Number(name) === pid || Number(fields[1]) === pid) yield { pid: Number(name), fields }
    } catch {
      // It exited during the read.
    }
  }
}

/** For parts that are run alone. */
export function printRows(rows: BenchRow[]): void {
  for (const row of rows) {
    const ratios = Object.entries(row.ratios).map(([name, ratio]) => `${ratio.toFixed(2)} x ${name}`)
    const value = row.value === null ? 'not measured' : `${row.value >= 100 ? Math.round(row.value) : row.value.toPrecision(3)} ${row.unit}`
    console.log(
      [
        row.name,
        row.who,
        value,
        row.cpu_us === undefined ? '' : `${row.cpu_us.toFixed(1)} us`,
        ...ratios,
        row.note ?? '',
        row.ok === false ? 'BAR MISSED' : '',
      ]
        .filter(Boolean)
        .join('  '),
    )
  }
}
