import type { Domain, DomainCheck } from '../contract/domains.ts'
import type { DomainChecker, DomainCheckResult } from '../dns/domain-checker.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { type DomainView, findDomainView, findCoveringOwnedDomain, listDomainsDueForCheck, updateDomain } from '../store/domains.ts'
import type { Db, Tx } from '../store/store.ts'
import { cancelDomainTransfer } from '../store/owned-domains.ts'

/** Looks where names lead, and lets those route that lead here. */
export interface DomainVerifier {
  /** The address that A records must name. */
  platformIp(): string
  /** Whether names are sold here. */
  isPurchaseEnabled(): boolean
  /** Names of the instance itself, which nobody's project gets. */
  instanceHostnames(): readonly string[]
  /** Looks now; undefined when the domain is gone. */
  check(id: string): Promise<DomainCheck[] | undefined>
  /** Looks again at what was verified, for the hourly round: each name once a day, and hourly while there is a fault. */
  recheckDueDomains(signal: AbortSignal): Promise<void>
}

export interface DomainVerifierOptions extends Pick<DomainVerifier, 'platformIp' | 'isPurchaseEnabled' | 'instanceHostnames'> {
  db: Db
  dns: DomainChecker
  clock: Clock
  /** The verified names of a project are others now. */
  refreshHosts(projectId: string): void
  /** Addresses that lead here too, as seen from this machine or its network. */
  instanceAddresses(): readonly string[]
}

const recheckInterval_ms = 24 * 3_600_000
/** A record that is being changed, or a resolver's bad hour, takes no site down. */
const maxFailedChecks = 3

export function createDomainVerifier(options: DomainVerifierOptions): DomainVerifier {
  const { db, dns, clock, platformIp, isPurchaseEnabled, instanceHostnames } = options
  const now = () => isoTime(clock.now())
  /** However many ask for a look at the same name at once, it is one. */
  const pendingChecks = new Map<string, Promise<VerificationResult | undefined>>()

  /** `is_asked`: somebody waits for the answer, and what it says holds at once. */
  async function checkDomain(id: string, is_requested: boolean): Promise<VerificationResult | undefined> {
    const current = await db.read((tx) => {
      const domain = findDomainView(tx, id)
      return domain && { domain, is_local: isBoughtFromLocalRegistrar(tx, domain, now()) }
    })
    if (!current) return undefined
    const { hostname } = current.domain
    const examination = current.is_local ? verifiedByLocalRegistrar(hostname, platformIp()) : await dns.check(hostname, platformIp())
    // The network was opened or the machine moved since: what led here when it was verified, and still does, stays.
    const result =
      !is_requested && resolvesTo(examination, options.instanceAddresses()) ? { ...examination, verdict: 'here' as const, error: null } : examination
    const applied = await db.write((tx) => {
      const domain = findDomainView(tx, id)
      if (!domain) return undefined
      // Whoever asks whether a name on its way to another registrar leads here, and it does, wants to keep it.
      const isTransferCanceled = domain.status === 'transfer_requested' && is_requested && result.verdict === 'here'
      if (isTransferCanceled && domain.owned_domain_id !== null) cancelDomainTransfer(tx, domain.owned_domain_id)
      const { status, failed_checks } = nextDomainState(isTransferCanceled ? { ...domain, status: 'pending' } : domain, result, is_requested)
      const checkedAt = now()
      updateDomain(tx, id, {
        status,
        failed_checks,
        verified_at: status !== 'verified' ? null : domain.status === 'verified' ? domain.verified_at : checkedAt,
        last_check_at: checkedAt,
        last_check_error: result.error,
      })
      const is_status_changed = status !== domain.status
      if (is_status_changed || is_requested) tx.publish({ type: 'project_changed', id: domain.project_id })
      return { project_id: domain.project_id, is_status_changed }
    })
    if (!applied) return undefined
    if (applied.is_status_changed) options.refreshHosts(applied.project_id)
    return result
  }

  return {
    platformIp,
    isPurchaseEnabled,
    instanceHostnames,
    async check(id) {
      const pending = pendingChecks.get(id) ?? checkDomain(id, true).finally(() => pendingChecks.delete(id))
      pendingChecks.set(id, pending)
      return (await pending)?.checks
    },
    async recheckDueDomains(signal) {
      const due = await db.read((tx) => listDomainsDueForCheck(tx, isoTime(clock.now() - recheckInterval_ms)))
      for (const { id } of due) {
        if (signal.aborted) return
        const result = await checkDomain(id, false)
        // Offline: the others would wait in vain as well.
        if (result?.verdict === 'unknown') return
      }
    },
  }
}

const resolvesTo = ({ checks: [first] }: VerificationResult, addresses: readonly string[]): boolean =>
  first !== undefined && first.found.length > 0 && first.found.every((one) => addresses.includes(one))

type VerificationResult = Pick<DomainCheckResult, 'verdict' | 'error' | 'checks'>

function nextDomainState(domain: DomainView, result: VerificationResult, is_requested: boolean): { status: Domain['status']; failed_checks: number } {
  const { status, failed_checks } = domain
  if (status === 'transfer_requested') return { status, failed_checks: 0 }
  if (result.verdict === 'here') return { status: 'verified', failed_checks: 0 }
  if (status !== 'verified') return { status: 'failed', failed_checks: 0 }
  if (result.verdict === 'unknown') return { status, failed_checks }
  const failed = failed_checks + 1
  return is_requested || failed >= maxFailedChecks ? { status: 'failed', failed_checks: 0 } : { status, failed_checks: failed }
}

/** A name that the instance sold itself, or one below it: it needs no proof, and public DNS knows nothing of it. */
function isBoughtFromLocalRegistrar(tx: Tx, domain: DomainView, now: string): boolean {
  const owned = findCoveringOwnedDomain(tx, domain.hostname, now)
  return owned?.registrar === 'local' && owned.is_registered === 1 && owned.account_id === domain.project_account_id
}

function verifiedByLocalRegistrar(name: string, platform_ip: string): VerificationResult {
  const message = `${name} was bought here, and is answered by the instance’s own DNS server.`
  return { verdict: 'here', error: null, checks: [{ type: 'A', name, expected: platform_ip, found: [platform_ip], ok: true, message }] }
}
