import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
const prefix = 'homeport-test-'
/** More than a run of all tests occupies. */
const required_bytes = 4 * 2 ** 30

/**
 * Moves the temporary files of a run into memory, if this machine has enough: the databases, repositories and apps of hundreds of platforms, which
 * on a disk cost a sixth of the processor time and make the tests wait for it. They are removed when this process ends.
 */
export function useMemoryFolder(): void {
  if (process.env['TMPDIR'] !== undefined || !hasRoom()) return
  removeLeftovers()
  const folder = join(memory, `${prefix}${process.pid}`)
  mkdirSync(folder, { mode: 0o755 })
  process.env['TMPDIR'] = folder
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
}

function hasRoom(): boolean {
  if (process.platform !== 'linux' || !existsSync(memory) || freemem() < 2 * required_bytes) return false
  const { bavail, bsize } = statfsSync(memory)
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[1] === memory)
  // Apps are executed there.
  return bavail * bsize > required_bytes && mount !== undefined && !/[ ,]noexec[ ,]/.test(mount)
}

/** Of runs that were killed, whose folders would occupy memory until the next start of the machine. One in which something is mounted stays. */
function removeLeftovers(): void {
  for (const name of readdirSync(memory)) {
    if (!name.startsWith(prefix) || existsSync(`/proc/${name.slice(prefix.length)}`)) continue
    try {
      rmSync(join(memory, name), { recursive: true, force: true })
    } catch (error) {
      console.warn(`A folder of an earlier run stays: ${String(error)}`)
    }
  }
}
