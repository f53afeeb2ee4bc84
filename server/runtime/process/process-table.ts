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

/** How long a sample of `ps` is reused. All monitors share it, regardless of the number of apps. */
const sampleLifetime_ms = 1_000

/** Rows of /proc to read per turn of the event loop: about a millisecond. */
const rowsPerTurn = 100

/** Reads processes on macOS and BSD, which requires running `ps`. Calls within a second share one run. */
export function createProcessSampler(runPs: (args: string[]) => Promise<string>, clock: Clock) {
  let last: { at_ms: number; rows: Promise<(ProcessRow & { rss_bytes: number })[]> } | undefined
  return {
    /** `now`: use a run that starts with this call. */
    rows(now = false) {
      const at_ms = clock.monotonic()
      if (last && !now && at_ms - last.at_ms < sampleLifetime_ms) return last.rows
      last = { at_ms, rows: runPs(['-axo', 'pid=,ppid=,pgid=,rss=,lstart=']).then(parseRows) }
      return last.rows
    },
  }
}

function parseRows(text: string) {
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, group, rss, started] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(.+?)\s*$/.exec(line) ?? []
    return pid ? [{ pid: Number(pid), parent: Number(parent), group: Number(group), rss_bytes: Number(rss) * 1024, started: started! }] : []
  })
}

const sampler = createProcessSampler((args) => runCommand('ps', args), systemClock)

/** All processes of this machine; empty on Windows, where reading them is expensive. At most a second old; with `now` from this moment. */
export async function readProcessTable({ now = false } = {}): Promise<ProcessRow[]> {
  if (platform() === 'linux') {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
    const rows: ProcessRow[] = []
    for (let at = 0; at < pids.length; at += rowsPerTurn) {
      if (at > 0) await nextTurn()
      for (const pid of pids.slice(at, at + rowsPerTurn)) rows.push(...readRow(pid))
    }
    return rows
  }
  if (platform() === 'win32') return []
  return sampler.rows(now)
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
  return (await sampler.rows()).reduce((sum, { pid, rss_bytes }) => sum + (wanted.has(pid) ? rss_bytes : 0), 0)
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
