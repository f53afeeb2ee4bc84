import type { DomainEvent } from '../contract/domain-events.ts'
import { limits } from '../contract/limits.ts'
import { type Clock, isoTime, sleep, type Timer } from '../lib/clock.ts'
import type { EventBus } from '../lib/event-bus.ts'
import type { Log } from '../lib/log.ts'
import { isTeamMember } from '../store/invitations.ts'
import { type DueDelivery, findNextDelivery, listDueDeliveries, recordAttempt } from '../store/notifications.ts'
import type { Sealer } from '../store/sealer.ts'
import type { Db } from '../store/store.ts'
import type { SendNotification } from './send.ts'

export interface DeliveryWorkerOptions {
  db: Db
  events: EventBus<DomainEvent>
  sealer: Sealer
  clock: Clock
  log: Log
  send: SendNotification
}

const maxConcurrent = 8
/** How many due rows are looked at, of which a slow target may have many. */
const batchSize = 200
/** The clock of a machine that slept has jumped, so the next time is checked at least this often. */
const maxWait_ms = 60_000
const minWait_ms = 1_000

/**
 * Sends the notifications of the outbox: at least once, with the same ID, one at a time to each target. A failed attempt is repeated after a growing
 * time. What a crash interrupted is sent again.
 */
export function createDeliveryWorker({ db, events, sealer, clock, log, send }: DeliveryWorkerOptions) {
  const closing = new AbortController()
  const busyTargets = new Map<string, Promise<void>>()
  let timer: Timer | undefined
  let isScanning = false
  let isScanRequested = false

  const openTarget = ({ target_id, sealed_address, sealed_secret }: DueDelivery) => {
    const unseal = (column: string, sealed: Uint8Array) => sealer.unseal({ table: 'notification_targets', column, row: target_id }, sealed)
    return { address: unseal('sealed_address', sealed_address), secret: sealed_secret && unseal('sealed_secret', sealed_secret) }
  }

  const attempt = async (delivery: DueDelivery): Promise<void> => {
    const startedAt_ms = clock.monotonic()
    const at = isoTime(clock.now())
    const result = await openAndSend(delivery)
    // Interrupted by the end of the platform, so it stays due.
    if (closing.signal.aborted && result.error !== null) return
    const tries_left = result.error === null ? 0 : delivery.tries_left - 1
    const number = delivery.attempts + 1
    await db.write((tx) =>
      recordAttempt(
        tx,
        {
          delivery_id: delivery.id,
          number,
          at,
          status: result.status,
          duration_ms: Math.round(clock.monotonic() - startedAt_ms),
          error: result.error,
        },
        {
          status: result.error === null ? 'delivered' : tries_left > 0 ? 'pending' : 'failed',
          tries_left,
          next_attempt_at: tries_left > 0 ? isoTime(clock.now() + retryDelay_ms(tries_left)) : null,
        },
      ),
    )
  }

  /** With a master key other than the one that sealed the address, the target has to be added again. */
  const openAndSend = async (delivery: DueDelivery): ReturnType<SendNotification> => {
    let target: ReturnType<typeof openTarget>
    try {
      target = openTarget(delivery)
    } catch {
      return { status: null, error: 'The address cannot be decrypted with this master key. Add the target again.' }
    }
    // Who has left the team gets nothing more of it.
    if (delivery.type === 'email' && delivery.is_trusted === 0 && !(await db.read((tx) => isTeamMember(tx, delivery.account_id, target.address))))
      return { status: null, error: 'The address is not that of a member of the team any more. Delete this target.' }
    return send({ ...target, type: delivery.type, is_trusted: delivery.is_trusted === 1, payload: delivery.payload, signal: closing.signal })
  }

  const scan = async (): Promise<void> => {
    const now = isoTime(clock.now())
    const { due, next } = await db.read((tx) => ({ due: listDueDeliveries(tx, now, batchSize), next: findNextDelivery(tx)?.next_attempt_at ?? null }))
    for (const delivery of due) {
      const { target_id } = delivery
      if (closing.signal.aborted || busyTargets.size >= maxConcurrent) break
      if (busyTargets.has(target_id)) continue
      const running = attempt(delivery)
        .catch(async (error: unknown) => {
          log.warn('notification_not_recorded', { delivery: delivery.id, error })
          // What cannot be recorded, such as on a full disk, is not sent again at once.
          await sleep(clock, maxWait_ms, closing.signal).catch(() => undefined)
        })
        .finally(() => {
          busyTargets.delete(target_id)
          requestScan()
        })
      busyTargets.set(target_id, running)
    }
    timer?.cancel()
    if (closing.signal.aborted) return
    const wait_ms = next === null ? maxWait_ms : Math.min(maxWait_ms, Math.max(minWait_ms, Date.parse(next) - clock.now()))
    timer = clock.setTimeout(requestScan, wait_ms).unref()
  }

  /** Scans follow one after the other. */
  const requestScan = (): void => {
    isScanRequested = true
    if (isScanning || closing.signal.aborted) return
    isScanning = true
    void (async () => {
      while (isScanRequested && !closing.signal.aborted) {
        isScanRequested = false
        await scan().catch((error: unknown) => {
          log.warn('notifications_not_read', { error })
          timer = clock.setTimeout(requestScan, maxWait_ms).unref()
        })
      }
      isScanning = false
    })()
  }

  const unsubscribe = events.subscribe((event) => event.type === 'notification_queued' && requestScan())

  return {
    start: requestScan,
    async close(): Promise<void> {
      closing.abort()
      unsubscribe()
      timer?.cancel()
      await Promise.all(busyTargets.values())
    },
  }
}

/** 10 s, 40 s, 3 min, 11 min ... after the first attempt, second attempt ... */
function retryDelay_ms(triesLeft: number): number {
  const { attempts, first_retry_ms, factor } = limits.notifications
  return first_retry_ms * factor ** (attempts - triesLeft - 1)
}
