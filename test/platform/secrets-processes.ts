import { readdirSync, readFileSync } from 'node:fs'

/**
 * Looks for marks in the command lines of all processes, and in the environment of those that are neither the app nor its build, until `stop`. A process
 * is read whenever it may be new or have started another program, later once a second; reading all of them each time would keep a core busy.
 */
export function watchProcesses(listMarks: () => string[]) {
  const seen = { processes: new Set<string>(), surroundings: new Set<string>(), stop: () => {} }
  /** How often a process was looked at, by its ID. */
  const sightings = new Map<string, number>()
  const scan = () => {
    const pids = new Set(readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid))
    for (const pid of sightings.keys()) if (!pids.has(pid)) sightings.delete(pid)
    const marks = listMarks()
    for (const pid of pids) {
      const count = sightings.get(pid) ?? 0
      sightings.set(pid, count + 1)
      if (count > 10 && count % 20 !== 0) continue
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
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
