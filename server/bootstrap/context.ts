import { join } from 'node:path'
import type { DomainEvent } from '../contract/domain-events.ts'
import { bootstrapInstance, type InstanceIdentity } from '../features/bootstrap-instance.ts'
import { createSettingsService, type SettingsService } from '../features/settings.ts'
import { createFileMasterKey } from '../keys/file-key.ts'
import type { MasterKey } from '../keys/master-key.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import type { EventBus } from '../lib/event-bus.ts'
import { isProcessAlive, readInstanceFile } from '../lib/instance-file.ts'
import { type Log, silentLog } from '../lib/log.ts'
import { assertNoStandby } from '../maintenance/standby/follow-primary.ts'
import { assertRestoreComplete } from '../maintenance/restore/finish-restore.ts'
import type { PlatformOptions } from '../options.ts'
import { DataFolderInUseError, type PlatformHost } from '../platform.ts'
import { lockDataFolder } from '../store/data-folder-lock.ts'
import { createDataFolder } from '../store/private-file.ts'
import { createSealer, type Sealer } from '../store/sealer.ts'
import { openStore, type Store } from '../store/store.ts'

/** The foundation of every part of the platform: the open data folder, and what was read from it. */
export interface PlatformContext {
  options: PlatformOptions
  host: PlatformHost
  data_dir: string
  log: Log
  clock: Clock
  store: Store
  events: EventBus<DomainEvent>
  masterKey: MasterKey
  sealer: Sealer
  identity: InstanceIdentity
  settings: SettingsService
  /** Addresses of this run. Those of the edge are set once it listens, then those of the API. */
  urls: { api: string; api_fell_back: boolean; edge: string; edge_https: string | null; apps: string | null; dashboard: string }
  /** Registers the function that closes a part. The parts close in reverse order. */
  onClose(...closers: (() => unknown)[]): void
  close(): Promise<void>
}

/** Locks the data folder, opens the store and reads keys, identity and settings. Throws `DataFolderInUseError`. */
export async function openPlatformContext(options: PlatformOptions, host: PlatformHost): Promise<PlatformContext> {
  const { data_dir } = options
  const { log = silentLog, clock = systemClock } = host
  const closers: (() => unknown)[] = []
  const onClose = (...added: (() => unknown)[]) => void closers.push(...added)
  const close = async () => {
    for (const closer of closers.reverse().splice(0)) await closer()
  }

  createDataFolder(data_dir)
  const previous = readInstanceFile(data_dir)
  const lock = lockDataFolder(data_dir)
  if (!lock) throw new DataFolderInUseError(data_dir, previous && isProcessAlive(previous.pid) ? previous : undefined)
  onClose(() => lock.release())

  try {
    assertRestoreComplete(data_dir)
    await assertNoStandby(data_dir)
    const masterKey =
      host.masterKey ?? createFileMasterKey(options.master_key_file ?? join(data_dir, 'master.key'), { is_ours: options.master_key_file === null })
    const sealer = createSealer(await masterKey.read())
    // An orderly exit removes instance.json, so a file that is still present means that the previous run crashed.
    const store = host.store ?? (await openStore({ data_dir, after_crash: previous !== undefined, clock }))
    onClose(() => store.close())
    if (store.recovery) log.error('recovered_from_backup', { ...store.recovery })
    const identity = await bootstrapInstance({ db: store.db, sealer, clock })
    const settings = createSettingsService(store.db, clock)
    const urls = { api: '', api_fell_back: false, edge: '', edge_https: null, apps: null, dashboard: '' }
    return { options, host, data_dir, log, clock, store, events: store.events, masterKey, sealer, identity, settings, urls, onClose, close }
  } catch (error) {
    await close()
    throw error
  }
}
