import { type Clock, getElapsed, readTimes, sleep } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'

/**
 * Who leads a cluster, kept in the cluster itself, where a change of the record succeeds only for the first of those that read the same version. The leader
 * renews its lease; a standby takes it after it has seen no renewal for longer than the leader trusts it. Each measures with its own clock only.
 */
export interface LeaseRecord {
  /** An id of the data folder that leads. Empty: it has given up the lease. */
  holder: string
  /** The name of its machine. */
  name: string
  /** Incremented by each process that leads, so that edges can refuse an earlier one. */
  epoch: number
  renewal: number
  /** The data folder that may take the lease; null for none. */
  standby: string | null
  /** Whether the leader has seen this standby, and stops when it cannot renew. */
  is_standby_known: boolean
  /** A person has asked the leader to let the standby lead. */
  is_handover: boolean
}

export interface LeaseStore {
  read(): Promise<{ record: LeaseRecord; version: number } | undefined>
  /** Whether it was the first to write. */
  create(record: LeaseRecord): Promise<boolean>
  /** Whether the record still had this version. */
  replace(version: number, record: LeaseRecord): Promise<boolean>
}

/** The leader trusts its lease for this long after it began to renew it. */
export const trust_ms = 12_000
/** A standby takes a lease that was not renewed for this long. The difference is for clocks that run at different speeds. */
export const takeover_ms = 16_000
const renewalInterval_ms = 3_000
const watchInterval_ms = 1_000
/** A copy of this age is too old to lead anyway. */
const maxAbsence_ms = 60_000

export interface Lease {
  /** Resolves once the lease is held, or as soon as it cannot be said who holds it. Throws `LeaseTakenError`. */
  start(): Promise<void>
  /** Whether this process may change the cluster. */
  isHeld(): boolean
  epoch(): number
  /** The data folder of the standby that takes over; null for none. */
  standby(): string | null
  /** Says which standbys follow this instance. One that has not done so for a minute makes room for another. */
  watchStandbys(isFollowing: (standby: string) => boolean): void
  /** Resolves with a sentence when another leads. */
  readonly lost: Promise<string>
  close(): Promise<void>
}

/** Another data folder leads the cluster; the message says what to do. */
export class LeaseTakenError extends Error {}

interface LeaseOptions {
  store: LeaseStore
  /** Of this data folder. */
  holder: string
  /** Of this machine. */
  name: string
  clock: Clock
  log: Log
}

/** What a data folder remembers about its lease. */
export interface LeaseMemory {
  /** Whether a standby may have taken the lease meanwhile. */
  had_standby: boolean
  /** Resolves once that is on the disk. */
  remember(hasStandby: boolean): Promise<void>
}

/** The lease of an instance that leads. */
export function createLease({ store, holder, name, clock, log, memory }: LeaseOptions & { memory: LeaseMemory }): Lease {
  const closing = new AbortController()
  const lost = Promise.withResolvers<string>()
  let held: LeaseRecord | undefined
  let renewedAt = readTimes(clock)
  let hadStandby = memory.had_standby
  let isLost = false
  let isFailing = false
  let running: Promise<void> | undefined
  let isFollowing: (standby: string) => boolean = () => true
  /** Since when the standby does not follow, by the monotonic clock. */
  let absentSince: number | undefined

  const keepStandby = (standby: string | null): string | null => {
    if (standby === null || isFollowing(standby)) absentSince = undefined
    else absentSince ??= clock.monotonic()
    return absentSince !== undefined && clock.monotonic() - absentSince > maxAbsence_ms ? null : standby
  }

  const lose = (record: LeaseRecord): void => {
    isLost = true
    held = undefined
    log.error('lease_lost', { holder: record.name, epoch: record.epoch })
    lost.resolve(
      record.holder === ''
        ? 'A standby was asked to lead, so this instance has stopped changing the cluster.'
        : `${record.name} leads this cluster now, so this instance has stopped changing it.`,
    )
  }

  /** Takes or renews the lease. Throws if the cluster cannot say. */
  const renew = async (): Promise<void> => {
    const times = readTimes(clock)
    const found = await store.read()
    const known = found?.record
    if (held && known && (known.holder !== holder || known.epoch !== held.epoch)) return lose(known)
    if (known && known.holder !== '' && known.holder !== holder)
      throw new LeaseTakenError(
        `${known.name} leads this cluster with newer data. Start this one as its standby (homeport standby --of ADDRESS --data DIR), and make it lead with homeport standby promote if you want it to.`,
      )
    // Only a standby follows a handover.
    if (!held && known?.holder === '' && known.standby !== null && known.standby !== holder)
      throw new LeaseTakenError('The standby of this instance is about to lead. Start this one as its standby: homeport standby --of ADDRESS.')
    const base = known ?? emptyRecord
    const isHandover = held !== undefined && base.is_handover && base.standby !== null
    const standby = isHandover ? base.standby : keepStandby(base.standby)
    const record: LeaseRecord = {
      holder: isHandover ? '' : holder,
      name,
      epoch: held ? held.epoch : base.epoch + 1,
      renewal: base.renewal + 1,
      standby,
      is_standby_known: standby !== null,
      is_handover: false,
    }
    const remember = async (hasStandby: boolean) => {
      if (hasStandby !== hadStandby) await memory.remember(hasStandby)
      hadStandby = hasStandby
    }
    // A standby may take over from the moment it is in the record until it is out of it.
    if (standby !== null) await remember(true)
    const isWritten = found ? await store.replace(found.version, record) : await store.create(record)
    if (!isWritten) return renew()
    await remember(standby !== null)
    if (isHandover) return lose(record)
    held = record
    renewedAt = times
    isFailing = false
  }

  const run = async (): Promise<void> => {
    while (!closing.signal.aborted && !isLost) {
      await sleep(clock, renewalInterval_ms, closing.signal).catch(() => {})
      if (closing.signal.aborted) return
      try {
        await renew()
      } catch (error) {
        if (error instanceof LeaseTakenError) {
          isLost = true
          return lost.resolve(error.message)
        }
        if (!isFailing) log.warn('lease_not_renewed', { error })
        isFailing = true
      }
    }
  }

  return {
    async start() {
      await renew().catch((error: unknown) => {
        if (error instanceof LeaseTakenError) throw error
        isFailing = true
        log.warn('lease_not_renewed', { error })
      })
      running = run()
    },
    isHeld: () => !isLost && (held ? !held.is_standby_known || getElapsed(clock, renewedAt) < trust_ms : !hadStandby),
    epoch: () => held?.epoch ?? 0,
    standby: () => held?.standby ?? null,
    watchStandbys: (next) => void (isFollowing = next),
    lost: lost.promise,
    async close() {
      closing.abort()
      await running
    },
  }
}

/**
 * Waits as a standby until it leads. The first one that is ready becomes the standby of the record, and takes a lease that is not renewed, or that its holder
 * has given up. `isReady`: whether it has what it needs to lead; `isAsked`: whether a person wants it to lead, also in place of another standby and of a
 * leader that has not seen it. Rejects with the reason of the signal.
 */
export async function awaitLease(options: LeaseOptions & { signal: AbortSignal; isReady(): boolean; isAsked(): boolean }): Promise<LeaseRecord> {
  const { store, holder, name, clock, log, signal, isReady, isAsked } = options
  /** `since`: by the monotonic clock. */
  let seen: { key: string; since: number } | undefined
  let isFailing = false

  const step = async (): Promise<LeaseRecord | undefined> => {
    const found = await store.read()
    if (!found) return undefined
    const { record, version } = found
    // It ended after it had taken the lease.
    if (record.holder === holder) return record
    const key = [record.holder, record.epoch, record.renewal].join(' ')
    if (seen?.key !== key) seen = { key, since: clock.monotonic() }
    if (!isReady()) return undefined
    const isOwn = record.standby === holder
    const isFree = record.holder === ''
    const isSilent = clock.monotonic() - seen.since > takeover_ms
    if ((isOwn && (isFree || (isSilent && record.is_standby_known))) || (isAsked() && isSilent)) {
      const taken: LeaseRecord = { ...emptyRecord, holder, name, epoch: record.epoch + 1, renewal: record.renewal + 1 }
      return (await store.replace(version, taken)) ? taken : undefined
    }
    if (isAsked() ? !isOwn || !record.is_handover : record.standby === null)
      await store.replace(version, {
        ...record,
        standby: holder,
        is_standby_known: isOwn && record.is_standby_known,
        is_handover: isAsked(),
      })
    return undefined
  }

  for (;;) {
    signal.throwIfAborted()
    try {
      const taken = await step()
      if (taken) return taken
      isFailing = false
    } catch (error) {
      // Without a quorum the leader could not renew its lease either.
      seen = undefined
      if (!isFailing) log.warn('lease_not_read', { error })
      isFailing = true
    }
    await sleep(clock, watchInterval_ms, signal)
  }
}

/** A standby that stops says so, because a leader with a standby stops when it cannot renew. */
export async function resignAsStandby(store: LeaseStore, holder: string): Promise<void> {
  for (;;) {
    const found = await store.read()
    if (found?.record.standby !== holder) return
    if (await store.replace(found.version, { ...found.record, standby: null, is_standby_known: false, is_handover: false })) return
  }
}

const emptyRecord: LeaseRecord = { holder: '', name: '', epoch: 0, renewal: 0, standby: null, is_standby_known: false, is_handover: false }
