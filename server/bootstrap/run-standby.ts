import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createFileMasterKey } from '../keys/file-key.ts'
import { type Clock, sleep, systemClock } from '../lib/clock.ts'
import { probePort } from '../lib/free-port.ts'
import { isProcessAlive, readInstanceFile } from '../lib/instance-file.ts'
import type { Log } from '../lib/log.ts'
import { promotionFile } from '../lib/standby-files.ts'
import { awaitLease, resignAsStandby } from '../maintenance/standby/lease.ts'
import {
  followPrimary,
  hasInstance,
  openStandbyState,
  type Primary,
  removeStandbyState,
  StandbyError,
} from '../maintenance/standby/follow-primary.ts'
import { promoteReplica } from '../maintenance/standby/promote-replica.ts'
import type { PlatformOptions } from '../options.ts'
import { DataFolderInUseError, type PlatformHost } from '../platform.ts'
import { createDockerEngine } from '../runtime/docker/engine.ts'
import { removeOwnEdge } from '../runtime/swarm/swarm-edges.ts'
import { isKeyOf } from '../features/bootstrap-instance.ts'
import { readCopiedSetting } from '../store/database-copy.ts'
import { createSealer } from '../store/sealer.ts'
import { lockDataFolder } from '../store/data-folder-lock.ts'
import { createDataFolder } from '../store/private-file.ts'
import { createLeaseStore, hasLeaseMemory, openLeaseMemory } from './start-lease.ts'
import { createDockerOptions } from './start-runtimes.ts'

/** A copy that is older is not that of the instance that stopped responding, and leads only if a person wants it to. */
const maxAge_ms = 60_000
const portTimeout_ms = 20_000

interface StandbyRun {
  /** Creates the client of the instance that is followed, for a standby of this id. */
  createPrimary(id: string): Primary
  url: string
  log: Log
  clock?: Clock
  signal: AbortSignal
  onChange(status: 'synced' | 'unreachable', error?: unknown): void
}

/**
 * Follows an instance until this one has to lead in its place, and prepares the data folder for that. Then `startPlatform` starts it. Rejects with the reason
 * of the signal.
 */
export async function runStandby(options: PlatformOptions, host: Pick<PlatformHost, 'docker_candidates'>, run: StandbyRun): Promise<void> {
  const { data_dir } = options
  const { log, clock = systemClock, signal } = run
  createDataFolder(data_dir)
  const previous = readInstanceFile(data_dir)
  const lock = lockDataFolder(data_dir)
  if (!lock) throw new DataFolderInUseError(data_dir, previous && isProcessAlive(previous.pid) ? previous : undefined)
  const ending = new AbortController()
  const either = AbortSignal.any([signal, ending.signal])
  try {
    // A service that starts this command again after it has led: the lease says whether it still does.
    if ((await hasInstance(data_dir)) && hasLeaseMemory(data_dir)) return
    const state = await openStandbyState(data_dir, run.url)
    const { holder } = await openLeaseMemory(data_dir)
    const isFirstSync = Promise.withResolvers<void>()
    if (state.synced_at !== null) isFirstSync.resolve()
    const following = followPrimary({
      primary: run.createPrimary(holder),
      state,
      data_dir,
      clock,
      log,
      signal: either,
      checkCopy: (path) => checkKey(options, path),
      onChange(status, error) {
        if (status === 'synced') isFirstSync.resolve()
        run.onChange(status, error)
      },
    })
    await Promise.race([isFirstSync.promise, following])
    signal.throwIfAborted()

    const engine = createDockerEngine({
      instance_id: state.instance_id ?? '',
      log,
      clock,
      data_dir,
      node_path: options.node_path,
      npm_cli_path: options.npm_cli_path,
      docker: createDockerOptions(options, host),
    })
    const isAsked = () => existsSync(join(data_dir, promotionFile))
    const isReady = () => isAsked() || (state.synced_at !== null && clock.now() - Date.parse(state.synced_at) < maxAge_ms)
    const store = createLeaseStore(engine)
    const leading = awaitLease({ store, holder, name: hostname(), clock, log, signal: either, isReady, isAsked })
    const taken = await Promise.race([leading, following.then(() => leading)]).catch(async (error: unknown) => {
      ending.abort()
      await leading.catch(() => {})
      await resignAsStandby(store, holder).catch((cause: unknown) => log.warn('standby_not_resigned', { error: cause }))
      throw error
    })
    log.warn('standby_leads', { epoch: taken.epoch, of: run.url, synced_at: state.synced_at })
    ending.abort()
    await following
    await promoteReplica(data_dir)
    await removeOwnEdge(engine)
    for (const port of [options.edge_port, options.edge_https_port]) await waitForPort(options.host, port, clock)
    await removeStandbyState(data_dir)
    await rm(join(data_dir, promotionFile), { force: true })
  } finally {
    ending.abort()
    lock.release()
  }
}

/** The edge of this node was at the ports of the instance. Whatever else is there is reported by the start. */
async function waitForPort(host: string, port: number, clock: Clock): Promise<void> {
  const deadline = clock.monotonic() + portTimeout_ms
  while ((await probePort(host, port)) === undefined && clock.monotonic() < deadline) await sleep(clock, 200)
}

async function checkKey(options: PlatformOptions, path: string): Promise<void> {
  const key = await createFileMasterKey(options.master_key_file ?? join(options.data_dir, 'master.key')).read()
  const check = readCopiedSetting(path, 'key_check')
  if (check === undefined || !isKeyOf(createSealer(key), JSON.parse(check) as string))
    throw new StandbyError(
      'The master key is not that of the instance. Copy the file master.key from its data folder to this machine and name it with --key FILE.',
    )
}
