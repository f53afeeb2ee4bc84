import { readdir, readFile } from 'node:fs/promises'

const look_ms = 500
const page_bytes = 4096

/** Calls when the processes of a group hold more memory of their own than a picture is worth. Where there is no /proc the heap's limit has to do. */
export function watchMemory(group: number | undefined, most_bytes: number, tooMuch: () => void): { stop(): void } {
  if (process.platform !== 'linux' || group === undefined) return { stop() {} }
  let isLooking = false
  const timer = setInterval(() => {
    if (isLooking) return
    isLooking = true
    memoryOf(group)
      .then((bytes) => bytes > most_bytes && tooMuch())
      .catch(() => {})
      .finally(() => (isLooking = false))
  }, look_ms)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

/** What the processes of a group have for themselves: resident, less what they share. */
async function memoryOf(group: number): Promise<number> {
  let bytes = 0
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      // The name of the program, in parentheses, may hold anything; its group is the third field after it.
      const fields = (await readFile(`/proc/${name}/stat`, 'utf8')).replace(/^.*\) /s, '').split(' ')
      if (Number(fields[2]) !== group) continue
      const [, resident = 0, shared = 0] = (await readFile(`/proc/${name}/statm`, 'utf8')).split(' ').map(Number)
      bytes += (resident - shared) * page_bytes
    } catch {
      // Gone meanwhile.
    }
  }
  return bytes
}
