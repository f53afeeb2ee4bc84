import { readdirSync, readFileSync } from 'node:fs'

/**
 * Looks for marks in the command lines of all processes, and in the environment of those that are neither the app nor its build, until `stop`. Only a
 * command line that has changed is searched. Threads of the kernel, which have none, are read less often than processes.
 */
export function watchProcesses(listMarks: () => string[]) {
  const seen = { processes: new Set<string>(), surroundings: new Set<string>(), stop: () => {} }
  /** The command line of each process, by its ID, when it was last read, with the number of marks that were searched for. */
  const searched = new Map<string, string>()
  let scans = 0
  const scan = () => {
    scans++
    const pids = new Set(readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid))
    for (const pid of searched.keys()) if (!pids.has(pid)) searched.delete(pid)
    const marks = listMarks()
    for (const pid of pids) {
      const before = searched.get(pid)
      if (before === `${marks.length} ` && scans % 20 !== 0) continue
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        if (before === `${marks.length} ${words}`) continue
        searched.set(pid, `${marks.length} ${words}`)
        const name = readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
        if (marks.some((mark) => words.includes(mark))) seen.processes.add(words)
        if (/chrom|postgres|initdb|pg_ctl|psql|pg_dump/.test(name)) {
          const given = readFileSync(`/proc/${pid}/environ`, 'utf8')
          if (marks.some((mark) => given.includes(mark))) seen.surroundings.add(`${name}: ${given}`)
        }
      } catch {
        // The process has exited.
      }
    }
  }
  const timer = setInterval(scan, 50)
  seen.stop = () => clearInterval(timer)
  return seen
}
