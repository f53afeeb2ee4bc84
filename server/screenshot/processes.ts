import { readdir, readFile } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'

const look_ms = 300
const page_bytes = 4096

/**
 * Keeps the processes of a group behind everybody else, and calls when they hold more memory of their own than a picture is worth.
 * Where there is no /proc only the first of them is put back, and the heap's limit has to do.
 */
export function watchProcesses(group: number, most_bytes: number, tooMuch: () => void): { stop(): void } {
  putBack(group)
  if (process.platform !== 'linux') return { stop() {} }
  let isLooking = false
  const timer = setInterval(() => {
    if (isLooking) return
    isLooking = true
    look(group)
      .then((bytes) => bytes > most_bytes && tooMuch())
      .catch(() => {})
      .finally(() => (isLooking = false))
  }, look_ms)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

/** What the processes of a group have for themselves: resident, less what they share. */
async function look(group: number): Promise<number> {
  let bytes = 0
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      // The name of the program, in parentheses, may hold anything; its group is the third field after it.
      const fields = (await readFile(`/proc/${name}/stat`, 'utf8')).replace(/^.*\) /s, '').split(' ')
      if (Number(fields[2]) !== group) continue
      const [, resident = 0, shared = 0] = (await readFile(`/proc/${name}/statm`, 'utf8')).split(' ').map(Number)
      bytes += (resident - shared) * page_bytes
      // A browser that runs as root puts itself before others.
      putBack(Number(name))
    } catch {
      // Gone meanwhile.
    }
  }
  return bytes
}

function putBack(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch {
    // It may be gone already, or the system may not let us: it then runs as everybody does.
  }
}
