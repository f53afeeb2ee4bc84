import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { platform } from 'node:os'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { readProcFile } from '../../lib/proc-file.ts'

/** One process of the machine. `started` distinguishes two processes with the same pid (opaque; stable over the life of a process). */
export interface ProcessRow {
  pid: number
  parent: number
  group: number
  started: string
}

/** How long a reading of all processes is reused. All monitors share it, regardless of the number of apps. */
const sampleLifetime_ms = 1_000

/** Rows of /proc to read per turn of the event loop: about a millisecond. */
const rowsPerTurn = 100

/** Calls within a second share one reading, unless it began before `since`, a moment of the clock. */
export function createSampler<Row>(read: () => Promise<Row[]>, clock: Clock): (since?: number) => Promise<Row[]> {
  let last: { at_ms: number; rows: Promise<Row[]> } | undefined
  return (since = -Infinity) => {
    const at_ms = clock.monotonic()
    if (last && last.at_ms >= since && at_ms - last.at_ms < sampleLifetime_ms) return last.rows
    last = { at_ms, rows: read() }
    return last.rows
  }
}

/** Reads processes on macOS and BSD, which requires running `ps`. */
export const createPsReader = (runPs: (args: string[]) => Promise<string>) => () => runPs(['-axo', 'pid=,ppid=,pgid=,rss=,lstart=']).then(parseRows)

function parseRows(text: string) {
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, group, rss, started] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(.+?)\s*$/.exec(line) ?? []
    return pid ? [{ pid: Number(pid), parent: Number(parent), group: Number(group), rss_bytes: Number(rss) * 1024, started: started! }] : []
  })
}

const samplePs = createSampler(
  createPsReader((args) => runCommand('ps', args)),
  systemClock,
)
const sampleProc = createSampler(readProc, systemClock)

async function readProc(): Promise<ProcessRow[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const rows: ProcessRow[] = []
  for (let at = 0; at < pids.length; at += rowsPerTurn) {
    if (at > 0) await nextTurn()
    for (const pid of pids.slice(at, at + rowsPerTurn)) rows.push(...readRow(pid))
  }
  return rows
}

/** The moment for `since` of `readProcessTable`. */
export const processTableTime = (): number => systemClock.monotonic()

/**
 * All processes of this machine; empty on Windows, where reading them is expensive. With `now` as of this moment, with `since` as of a moment after
 * that one and at most a second old. Without either, at an age that is cheap on this system.
 */
export async function readProcessTable({ now = false, since }: { now?: boolean; since?: number } = {}): Promise<ProcessRow[]> {
  if (platform() === 'win32') return []
  if (platform() === 'linux') return now || since === undefined ? readProc() : sampleProc(since)
  return samplePs(now ? Infinity : since)
}

/** The start time of a process, or undefined when no process has this pid. */
export async function readProcessStart(pid: number): Promise<string | undefined> {
  if (platform() === 'linux') return readRow(pid)[0]?.started
  if (platform() === 'win32') {
    // CIM prints the creation time, which differs for a reused pid.
    const query = `(Get-CimInstance Win32_Process -Filter "ProcessId=${pid}").CreationDate.Ticks`
    return (await runCommand('powershell.exe', ['-NoProfile', '-Command', query])).trim() || undefined
  }
  return (await runCommand('ps', ['-o', 'lstart=', '-p', String(pid)])).trim() || undefined
}

/** The processes of a group and their descendants, including those that left the group. */
export function findProcessTree(table: ProcessRow[], leader: number): number[] {
  const tree = new Set(table.filter((row) => row.group === leader || row.pid === leader).map((row) => row.pid))
  for (let hasGrown = true; hasGrown;) {
    hasGrown = false
    for (const row of table) {
      if (!tree.has(row.pid) && tree.has(row.parent)) {
        tree.add(row.pid)
        hasGrown = true
      }
    }
  }
  return [...tree]
}

/** Private memory of processes in bytes, as the limit of a container would count it. */
export async function measurePrivateMemory(pids: number[]): Promise<number> {
  if (platform() === 'linux') {
    return pids.reduce((sum, pid) => sum + readPrivateMemory(pid), 0)
  }
  if (platform() === 'win32' || pids.length === 0) return 0
  const wanted = new Set(pids)
  return (await samplePs()).reduce((sum, { pid, rss_bytes }) => sum + (wanted.has(pid) ? rss_bytes : 0), 0)
}

/** CPU time of processes in milliseconds. */
export async function measureCpuTime(pids: number[]): Promise<number> {
  if (platform() !== 'linux') return 0
  // Fields 14 and 15 are ticks; Linux always reports 100 ticks per second to programs.
  return pids.reduce((sum, pid) => {
    const fields = parseStatFields(readProcFile(`${pid}/stat`))
    return sum + (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 10
  }, 0)
}

function readPrivateMemory(pid: number): number {
  const status = readProcFile(`${pid}/status`)
  const kB = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
  return (kB('RssAnon') + kB('RssShmem')) * 1024
}

/** Empty when the process does not exist. */
function readRow(pid: number): ProcessRow[] {
  const fields = parseStatFields(readProcFile(`${pid}/stat`))
  // A zombie has ended but keeps its pid.
  if (fields.length < 20 || fields[0] === 'Z') return []
  return [{ pid, parent: Number(fields[1]), group: Number(fields[2]), started: fields[19]! }]
}

/** The name in parentheses may contain spaces and parentheses, so fields are counted from the last closing parenthesis. */
const parseStatFields = (stat: string): string[] => (stat ? stat.slice(stat.lastIndexOf(')') + 2).split(' ') : [])

function runCommand(file: string, args: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(file, args, { windowsHide: true, timeout: 10_000, maxBuffer: 16 * 1024 * 1024 }, (error, stdout) => resolve(error ? '' : stdout))
  })
}
