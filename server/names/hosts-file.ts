import type { HostsFileStatus } from '../contract/network.ts'
import type { Clock, Timer } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { blockText, hostsBlock, isInStep, isWritable, readHosts, withBlock, writeBlock } from '../lib/hosts-file.ts'

/** The lines of this instance in the hosts file of the machine. */
export interface HostsFile {
  status(): Promise<HostsFileStatus>
  /** Brings the file in step; what cannot be done is left to the doctor. */
  sync(): Promise<void>
  /** Names may have changed: the same, shortly after. */
  nudge(): void
  close(): Promise<void>
}

export interface HostsFileOptions {
  path: string
  instance: string
  /** Data folder, for a command that another user runs. */
  data_dir: string
  names(): Promise<string[]>
  isWanted(): boolean
  clock: Clock
  log: Log
}

/** Many projects may change at once, and a name that is a moment late harms nobody. */
const settle_ms = 300

export function createHostsFile(options: HostsFileOptions): HostsFile {
  const { path, clock, log } = options
  let timer: Timer | undefined
  let syncing: Promise<void> = Promise.resolve()
  let complained = false

  const block = async () => hostsBlock(options.instance, await options.names())

  const write = async (): Promise<void> => {
    try {
      const wanted = await block()
      const isWanted = options.isWanted()
      const text = await readHosts(path)
      if (withBlock(text, isWanted ? wanted : { ...wanted, lines: [] }) === text) return
      if (!(await isWritable(path))) {
        // The doctor says what to do; a file that is not ours is left alone.
        if (!complained) log.warn('hosts_file.not_writable', { path })
        complained = true
        return
      }
      await writeBlock(path, isWanted ? wanted : { ...wanted, lines: [] })
      complained = false
    } catch (error) {
      log.warn('hosts_file.not_written', { path, error })
    }
  }

  const sync = (): Promise<void> => (syncing = syncing.then(write))

  return {
    sync,
    async status() {
      const wanted = await block()
      const in_sync = await isInStep(path, wanted)
      const writable = await isWritable(path)
      const command = writable ? null : `sudo npx homeport hosts --write --data ${quoted(options.data_dir)}`
      return { path, in_sync, writable, block: blockText(wanted), command }
    },
    nudge() {
      if (timer !== undefined) return
      timer = clock.setTimeout(() => {
        timer = undefined
        void sync()
      }, settle_ms)
    },
    async close() {
      timer?.cancel()
      await syncing
    },
  }
}

/** For a person's shell. */
export const quoted = (word: string): string => (/^[\w./:@=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)
