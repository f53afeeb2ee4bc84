import { execFile } from 'node:child_process'
import { cp, mkdir, rm } from 'node:fs/promises'
import { constants, platform, setPriority } from 'node:os'
import { dirname } from 'node:path'

interface CopyOptions {
  signal?: AbortSignal | undefined
  /** False for background copies, which run with low priority. */
  isUrgent?: boolean
}

/** Copies a folder with links and modes in another process, and shares blocks where the file system supports it. */
export async function copyFolder(from: string, to: string, { signal, isUrgent = true }: CopyOptions = {}): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  if (platform() === 'win32') return cp(from, to, { recursive: true, verbatimSymlinks: true })
  const args = platform() === 'linux' ? ['-a', '--reflink=auto', '--', from, to] : ['-a', from, to]
  await new Promise<void>((done, fail) => {
    const child = execFile('/bin/cp', args, { signal }, (error) => {
      if (error) fail(signal?.aborted ? signal.reason : error)
      else done()
    })
    if (!isUrgent) lowerPriority(child.pid)
  })
}

/** Copies a folder by sharing its blocks; false, and nothing is left, if the file system cannot. */
export async function cloneFolder(from: string, to: string): Promise<boolean> {
  if (platform() !== 'linux') return false
  await rm(to, { recursive: true, force: true, maxRetries: 5 })
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const isDone = await new Promise<boolean>((done) => {
    execFile('/bin/cp', ['-a', '--reflink=always', '--', from, to], (error) => done(error === null))
  })
  if (!isDone) await rm(to, { recursive: true, force: true, maxRetries: 5 })
  return isDone
}

function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // The process has ended, or the system denies the change.
  }
}
