import { X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { PublicCertificate } from '../../contract/network.ts'
import { type Clock, isoTime, type Timer } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { IssueCertificate } from './acme-issuer.ts'
import { explainAcmeError } from './explain-acme-error.ts'
import { AcmeError } from './acme-client.ts'
import { type AcmeAttempt, attemptHistory_ms, findBudgetRefusal, getRetryPause } from './rate-budget.ts'

/** A certificate of a public name, and how the last attempts to get one went. */
export interface PublicCertificateRecord {
  /** A host name, or `*.` and a domain. */
  name: string
  /** PEM, with its chain; null until there is one. */
  certificate: string | null
  key: string | null
  /** Failed attempts since the last success. */
  failures: number
  last_error: string | null
  last_attempt_at: string | null
  /** Not before this time. */
  next_attempt_at: string | null
}

export interface PublicCertificateStore {
  list(): Promise<PublicCertificateRecord[]>
  write(record: PublicCertificateRecord): Promise<void>
  remove(name: string): Promise<void>
  listAttempts(): Promise<AcmeAttempt[]>
  /** Also removes those before `oldest`. */
  addAttempt(attempt: AcmeAttempt, oldest: number): Promise<void>
}

export interface PublicCertificatesOptions {
  store: PublicCertificateStore
  issue: IssueCertificate
  clock: Clock
  log: Log
  /** With a wildcard, the domain below which every name has its certificate. */
  wildcard_domain: string | null
  /** Names that are to have a certificate before their first visitor. */
  listWantedNames(): Promise<string[]>
  /** Whether a name may have a certificate: there is something to serve, and it is public. */
  isAllowed(name: string): Promise<boolean>
  /** Called when a certificate of a name was issued, or could not be. */
  onChange(name: string): void
  random?: () => number
}

interface PublicTlsCredentials {
  certificate: string
  key: string
  context: SecureContext
}

export interface PublicCertificates {
  /** The certificate of a name; undefined if there is none yet. One is then ordered in the background, if the name may have one. */
  find(host: string): Promise<PublicTlsCredentials | undefined>
  list(): PublicCertificate[]
  /** The certificate that serves a name, or the attempts to get one. */
  describe(host: string): PublicCertificate | undefined
  /** Looks for names without a certificate, soon. */
  scheduleCheck(): void
  /** Forgets the pause after failures, because a user changed something. The budget still applies. */
  retry(host: string): Promise<void>
  /** Reads what earlier runs got. Before this, no name has a certificate. */
  load(): Promise<void>
  /** Starts to order and to renew, once it is known what is served. */
  start(): void
  close(): Promise<void>
}

const checkInterval_ms = 60_000
const checkDelay_ms = 1_000

interface Entry extends PublicCertificateRecord {
  validity: { from: number; to: number } | undefined
  credentials: PublicTlsCredentials | undefined
}

export function createPublicCertificates(options: PublicCertificatesOptions): PublicCertificates {
  const { store, clock, log, wildcard_domain, random = Math.random } = options
  const closing = new AbortController()
  const entries = new Map<string, Entry>()
  let attempts: AcmeAttempt[] = []
  /** Names to order, one after the other. */
  const queue = new Set<string>()
  let working: Promise<void> | undefined
  let checking: Promise<void> | undefined
  let timers: Timer[] = []
  let pendingCheck: Timer | undefined

  const isValid = ({ validity }: Entry): boolean => validity !== undefined && validity.to > clock.now()
  /** A third of the lifetime before the end. */
  const isDueForRenewal = ({ validity }: Entry): boolean => validity !== undefined && clock.now() >= validity.to - (validity.to - validity.from) / 3
  const mayTry = ({ next_attempt_at }: Entry): boolean => next_attempt_at === null || Date.parse(next_attempt_at) <= clock.now()
  const certificateNameOf = (host: string): string => {
    const parent = host.slice(host.indexOf('.') + 1)
    return parent === wildcard_domain ? `*.${parent}` : host
  }

  const save = async (record: PublicCertificateRecord): Promise<void> => {
    await store.write(record)
    const previous = entries.get(record.name)
    entries.set(record.name, previous?.certificate === record.certificate ? { ...previous, ...record } : toEntry(record))
    options.onChange(record.name)
  }
  const addAttempt = async (kind: AcmeAttempt['kind'], name: string): Promise<void> => {
    const attempt = { name, kind, at: clock.now() }
    const oldest = attempt.at - attemptHistory_ms
    attempts = [...attempts.filter(({ at }) => at > oldest), attempt]
    await store.addAttempt(attempt, oldest)
  }

  const enqueue = (name: string): void => {
    if (closing.signal.aborted) return
    queue.add(name)
    working ??= workOff().finally(() => (working = undefined))
  }

  async function workOff(): Promise<void> {
    for (const name of queue) {
      try {
        if (!closing.signal.aborted) await order(name)
      } catch (error) {
        if (!closing.signal.aborted) log.error('acme.order_failed', { name, error })
      } finally {
        queue.delete(name)
      }
    }
  }

  async function order(name: string): Promise<void> {
    const entry = entries.get(name) ?? toEntry({ ...emptyRecord, name })
    if (!mayTry(entry) || (isValid(entry) && !isDueForRenewal(entry))) return
    const record = toRecord(entry)
    const is_renewal = record.certificate !== null
    const refusal = findBudgetRefusal(attempts, { name, is_renewal }, clock.now())
    const last_attempt_at = isoTime(clock.now())
    if (refusal) {
      const last_error = `${refusal.reason} Homeport waits, so that it stays below the limits of the certificate authority.`
      log.warn('acme.budget_used_up', { name, until: isoTime(refusal.until) })
      return save({ ...record, last_error, last_attempt_at, next_attempt_at: isoTime(refusal.until) })
    }
    // Stored before the authority is asked, so that a crash is not forgotten.
    await addAttempt(is_renewal ? 'renewal' : 'new', name)
    try {
      const issued = await options.issue(name, closing.signal)
      await addAttempt('issued', name)
      await save({ ...emptyRecord, name, ...issued, last_attempt_at })
      log.info('acme.certificate_issued', { name, is_renewal })
    } catch (error) {
      if (closing.signal.aborted) return
      const { message, is_validation } = explainAcmeError(error, name)
      if (is_validation) await addAttempt('failed_validation', name)
      const failures = record.failures + 1
      const pause_ms = Math.max(getRetryPause(failures, random), (error instanceof AcmeError ? error.retry_after_ms : undefined) ?? 0)
      log.warn('acme.certificate_failed', { name, failures, error })
      await save({ ...record, failures, last_error: message, last_attempt_at, next_attempt_at: isoTime(clock.now() + pause_ms) })
    }
  }

  /** Orders for wanted names, renews what is still allowed, and forgets what is neither. */
  async function check(): Promise<void> {
    const wanted = new Set((await options.listWantedNames()).map(certificateNameOf))
    for (const name of wanted) {
      const entry = entries.get(name)
      if (!entry || (!isValid(entry) && mayTry(entry))) enqueue(name)
    }
    for (const [name, entry] of entries) {
      if (isValid(entry) && !(isDueForRenewal(entry) && mayTry(entry))) continue
      if (wanted.has(name) || (await options.isAllowed(name))) {
        // One that was ordered for a visitor and failed is ordered again for the next one.
        if (entry.certificate !== null) enqueue(name)
      } else if (!isValid(entry) && !queue.has(name)) {
        entries.delete(name)
        await store.remove(name)
      }
    }
  }
  const runCheck = (): void => {
    if (closing.signal.aborted) return
    checking ??= check()
      .catch((error: unknown) => log.error('acme.check_failed', { error }))
      .finally(() => (checking = undefined))
  }

  const scheduleCheck = (): void => {
    if (closing.signal.aborted) return
    pendingCheck?.cancel()
    pendingCheck = clock.setTimeout(runCheck, checkDelay_ms).unref()
  }

  const describe = ({ name, validity, failures, last_error, next_attempt_at, last_attempt_at }: Entry): PublicCertificate => ({
    name,
    status: validity !== undefined && validity.to > clock.now() ? 'issued' : last_error === null ? 'pending' : 'failed',
    expires_at: validity ? isoTime(validity.to) : null,
    failures,
    last_error,
    last_attempt_at,
    next_attempt_at,
  })

  return {
    async find(host) {
      const name = certificateNameOf(host)
      const entry = entries.get(name)
      if (entry && isValid(entry)) return (entry.credentials ??= createCredentials(entry))
      if (!queue.has(name) && (!entry || mayTry(entry)) && (await options.isAllowed(name))) enqueue(name)
      return undefined
    },
    list: () => [...entries.values()].map(describe).toSorted((a, b) => a.name.localeCompare(b.name)),
    describe(host) {
      const entry = entries.get(certificateNameOf(host))
      return entry && describe(entry)
    },
    scheduleCheck,
    async retry(host) {
      const entry = entries.get(certificateNameOf(host))
      if (entry && entry.next_attempt_at !== null) await save({ ...toRecord(entry), next_attempt_at: null })
      scheduleCheck()
    },
    async load() {
      for (const record of await store.list()) entries.set(record.name, toEntry(record))
      attempts = await store.listAttempts()
    },
    start() {
      timers = [clock.setInterval(runCheck, checkInterval_ms).unref()]
      scheduleCheck()
    },
    async close() {
      closing.abort(new Error('The platform stops.'))
      pendingCheck?.cancel()
      for (const timer of timers) timer.cancel()
      await checking
      await working
    },
  }
}

const emptyRecord = { certificate: null, key: null, failures: 0, last_error: null, last_attempt_at: null, next_attempt_at: null }

function toEntry(record: PublicCertificateRecord): Entry {
  const leaf = record.certificate === null ? undefined : new X509Certificate(record.certificate)
  return { ...record, validity: leaf && { from: Date.parse(leaf.validFrom), to: Date.parse(leaf.validTo) }, credentials: undefined }
}

const toRecord = ({ validity: _, credentials: __, ...record }: Entry): PublicCertificateRecord => record

function createCredentials({ certificate, key }: Entry): PublicTlsCredentials | undefined {
  if (certificate === null || key === null) return undefined
  return { certificate, key, context: createSecureContext({ cert: certificate, key, minVersion: 'TLSv1.2' }) }
}
