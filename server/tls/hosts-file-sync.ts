import type { HostsFileStatus } from '../contract/network.ts'
import type { Clock, Timer } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import {
  formatHostsBlock,
  createHostsBlock,
  isHostsFileInSync,
  isWritable,
  readHostsFile,
  applyHostsBlock,
  writeHostsBlock,
} from '../lib/hosts-file.ts'

/** Keeps the lines of this instance in the machine's hosts file up to date. */
export interface HostsFileSync {
  status(): Promise<HostsFileStatus>
  /** Updates the file. The doctor reports what could not be done. */
  sync(): Promise<void>
  /** Schedules an update shortly after names have changed. */
  scheduleSync(): void
  close(): Promise<void>
}

export interface HostsFileSyncOptions {
  path: string
  instance: string
  /** The data folder, for a command that an administrator runs. */
  data_dir: string
  names(): Promise<string[]>
  isEnabled(): boolean
  clock: Clock
  log: Log
}

/** Many projects may change at once, and a short delay does no harm. */
const debounce_ms = 300

export function createHostsFileSync(options: HostsFileSyncOptions): HostsFileSync {
  const { path, clock, log } = options
  let timer: Timer | undefined
  let syncing: Promise<void> = Promise.resolve()
  let hasWarned = false

  const currentBlock = async () => createHostsBlock(options.instance, await options.names())

  const write = async (): Promise<void> => {
    try {
      const desiredBlock = await currentBlock()
      const isEnabled = options.isEnabled()
      const text = await readHostsFile(path)
      if (applyHostsBlock(text, isEnabled ? desiredBlock : { ...desiredBlock, lines: [] }) === text) return
      if (!(await isWritable(path))) {
        // The doctor says what to do. A file without write permission stays unchanged.
        if (!hasWarned) log.warn('hosts_file.not_writable', { path })
        hasWarned = true
        return
      }
      await writeHostsBlock(path, isEnabled ? desiredBlock : { ...desiredBlock, lines: [] })
      hasWarned = false
    } catch (error) {
      log.warn('hosts_file.write_failed', { path, error })
    }
  }

  const sync = (): Promise<void> => (syncing = syncing.then(write))

  return {
    sync,
    async status() {
      const desiredBlock = await currentBlock()
      const in_sync = await isHostsFileInSync(path, desiredBlock)
      const writable = await isWritable(path)
      const command = writable ? null : `sudo npx homeport hosts --write --data ${quoteShellWord(options.data_dir)}`
      return { path, in_sync, writable, block: formatHostsBlock(desiredBlock), command }
    },
    scheduleSync() {
      if (timer !== undefined) return
      timer = clock.setTimeout(() => {
        timer = undefined
        void sync()
      }, debounce_ms)
    },
    async close() {
      timer?.cancel()
      await syncing
    },
  }
}

/** Quotes a word for the user's shell. */
export const quoteShellWord = (word: string): string => (/^[\w./:@=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)
