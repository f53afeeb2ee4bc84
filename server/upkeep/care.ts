import { timeoutSignal } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Db } from '../store/open.ts'
import type { BackupOptions } from './backup.ts'
import { type Backups, createBackups } from './backups.ts'
import { createHomecoming, type HomecomingOptions } from './homecoming.ts'
import { createRounds, type Rounds } from './rounds.ts'

/** How an instance looks after itself: backups, what is due every hour, and what a restored one has to catch up on. */
export interface Care {
  backups: Backups
  rounds: Rounds
  /** Of a restored folder, before the apps start. */
  putDatabasesBack(): Promise<void>
  /** The engine runs: begins the rounds. Returns what a person should know. */
  start(): Promise<string[]>
  close(): Promise<void>
}

/** A start does not wait for databases longer than this; the hourly round goes on with them. */
const patience_ms = 600_000

export async function createCare(options: BackupOptions & { db: Db; log: Log } & Pick<HomecomingOptions, 'putBack' | 'rebuild'>): Promise<Care> {
  const backups = await createBackups(options)
  const rounds = createRounds(options)
  const homecoming = await createHomecoming(options)
  rounds.add('safe_copy', () => backups.copyHourly())
  rounds.add('restored_databases', homecoming.putDatabasesBack)
  return {
    backups,
    rounds,
    putDatabasesBack: () => homecoming.putDatabasesBack(timeoutSignal(options.clock, patience_ms)),
    async start() {
      rounds.start()
      return homecoming.finish()
    },
    async close() {
      await rounds.close()
      await backups.close()
    },
  }
}
