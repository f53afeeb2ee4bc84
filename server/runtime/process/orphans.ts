import { execFile } from 'node:child_process'
import { platform } from 'node:os'
import { sep } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { readProcFile } from '../../lib/proc-file.ts'
import { findProcessTree, readProcessTable } from './process-table.ts'

export interface OrphanProcess {
  pid: number
  /** As in the process table; together with the pid it identifies a process uniquely. */
  started: string
  ancestors: number[]
}

/**
 * Processes of builds and apps that a previous platform left unrecorded: it was killed between a start and its record, or during a build. Orphans
 * are identified by HOME or TMPDIR, which Homeport sets to folders in the data folder; processes of the current platform are excluded. Not supported
 * on Windows.
 */
export async function findOrphans(dataDir: string): Promise<OrphanProcess[]> {
  const table = await readProcessTable({ now: true })
  const ownPids = new Set(findProcessTree(table, process.pid))
  const markers = [`HOME=${dataDir}${sep}`, `TMPDIR=${dataDir}${sep}`]
  const others = table.filter((row) => !ownPids.has(row.pid))
  const marked = platform() === 'linux' ? await findMarkedByProc(others, markers) : await findMarkedByPs(markers)
  const parents = new Map(table.map(({ pid, parent }) => [pid, parent]))
  const listAncestors = (pid: number): number[] => {
    const parent = parents.get(pid)
    return parent === undefined ? [] : [parent, ...listAncestors(parent)]
  }
  return others.filter((row) => marked.has(row.pid)).map(({ pid, started }) => ({ pid, started, ancestors: listAncestors(pid) }))
}

async function findMarkedByProc(rows: { pid: number }[], markers: string[]): Promise<Set<number>> {
  const marked = new Set<number>()
  for (const { pid } of rows) {
    await nextTurn()
    // Environments of other users' processes cannot be read; those processes are not ours.
    const environment = `\0${readProcFile(`${pid}/environ`)}`
    if (markers.some((marker) => environment.includes(`\0${marker}`))) marked.add(pid)
  }
  return marked
}

/** macOS and BSD: `-E` shows the environment of the user's own processes after the command. */
function findMarkedByPs(markers: string[]): Promise<Set<number>> {
  return new Promise((resolve) => {
    execFile('ps', ['-axwwE', '-o', 'pid=,command='], { timeout: 10_000, maxBuffer: 64 * 1024 * 1024 }, (error, stdout) => {
      const lines = error ? [] : stdout.split('\n').filter((line) => markers.some((marker) => line.includes(` ${marker}`)))
      resolve(new Set(lines.map((line) => Number.parseInt(line, 10))))
    })
  })
}
