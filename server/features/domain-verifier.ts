import type { Domain, DomainCheck } from '../contract/domains.ts'
import type { DomainChecker, DomainCheckResult } from '../dns/domain-checker.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { recordProjectActivity } from '../store/activity.ts'
import { type DomainView, findDomainView, findCoveringOwnedDomain, listDomainsDueForCheck, updateDomain } from '../store/domains.ts'
import type { Db, Tx } from '../store/store.ts'
import { cancelDomainTransfer } from '../store/owned-domains.ts'

/** Verifies custom domains by DNS and routes the verified ones. */
export interface DomainVerifier {
  /** The IP address for A records. */
  platformIp(): string
  /** Whether domains are sold here. */
  isPurchaseEnabled(): boolean
  /** Hostnames of the instance itself, which projects cannot use. */
  instanceHostnames(): readonly string[]
  /** Checks a domain now; undefined if it was deleted. */
  check(id: string): Promise<DomainCheck[] | undefined>
  /** Checks verified domains again, for the hourly job: daily, or hourly after a failed check. */
  recheckDueDomains(signal: AbortSignal): Promise<void>
}

export interface DomainVerifierOptions extends Pick<DomainVerifier, 'platformIp' | 'isPurchaseEnabled' | 'instanceHostnames'> {
  db: Db
  dns: DomainChecker
  clock: Clock
  /** Called when the verified domains of a project change. */
  refreshHosts(projectId: string): void
  /** Other addresses of this instance, as seen from this machine or its network. */
  instanceAddresses(): readonly string[]
}

const recheckInterval_ms = 24 * 3_600_000
/** Failed checks in a row before a domain fails, so that a short DNS problem takes no site down. */
const maxFailedChecks = 3

export function createDomainVerifier(options: DomainVerifierOptions): DomainVerifier {
  const { db, dns, clock, platformIp, isPurchaseEnabled, instanceHostnames } = options
  const now = () => isoTime(clock.now())
  /** Concurrent checks of the same domain share one lookup. */
  const pendingChecks = new Map<string, Promise<VerificationResult | undefined>>()

  /** `is_asked`: a user requested the check, so its result applies at once. */
  async function checkDomain(id: string, is_requested: boolean): Promise<VerificationResult | undefined> {
    const current = await db.read((tx) => {
      const domain = findDomainView(tx, id)
      return domain && { domain, is_local: isBoughtFromLocalRegistrar(tx, domain, now()) }
    })
    if (!current) return undefined
    const { hostname } = current.domain
    const examination = current.is_local ? verifiedByLocalRegistrar(hostname, platformIp()) : await dns.check(hostname, platformIp())
    // The platform address may have changed. A domain that still points to the address it was verified with stays verified.
    const result =
      !is_requested && resolvesTo(examination, options.instanceAddresses()) ? { ...examination, outcome: 'valid' as const, error: null } : examination
    const applied = await db.write((tx) => {
      const domain = findDomainView(tx, id)
      if (!domain) return undefined
      // Verifying a domain that is being transferred cancels the transfer.
      const isTransferCanceled = domain.status === 'transfer_requested' && is_requested && result.outcome === 'valid'
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
      if (is_status_changed && (status === 'verified' || status === 'failed'))
        recordProjectActivity(
          tx,
          checkedAt,
          { id: domain.project_id, slug: domain.project_slug, account_id: domain.project_account_id },
          {
            action: `domain.${status}`,
            actor_kind: is_requested ? 'system' : 'schedule',
            target_id: id,
            target_name: domain.hostname,
            is_outcome: 1,
          },
        )
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
        // Offline, so the other checks would time out as well.
        if (result?.outcome === 'unknown') return
      }
    },
  }
}

const resolvesTo = ({ checks: [first] }: VerificationResult, addresses: readonly string[]): boolean =>
  first !== undefined && first.found.length > 0 && first.found.every((one) => addresses.includes(one))

type VerificationResult = Pick<DomainCheckResult, 'outcome' | 'error' | 'checks'>

function nextDomainState(domain: DomainView, result: VerificationResult, is_requested: boolean): { status: Domain['status']; failed_checks: number } {
  const { status, failed_checks } = domain
  if (status === 'transfer_requested') return { status, failed_checks: 0 }
  if (result.outcome === 'valid') return { status: 'verified', failed_checks: 0 }
  if (status !== 'verified') return { status: 'failed', failed_checks: 0 }
  if (result.outcome === 'unknown') return { status, failed_checks }
  const failed = failed_checks + 1
  return is_requested || failed >= maxFailedChecks ? { status: 'failed', failed_checks: 0 } : { status, failed_checks: failed }
}

/** The result for a domain that the local registrar sold, or a subdomain of one. Public DNS does not know these names. */
function isBoughtFromLocalRegistrar(tx: Tx, domain: DomainView, now: string): boolean {
  const owned = findCoveringOwnedDomain(tx, domain.hostname, now)
  return owned?.registrar === 'local' && owned.is_registered === 1 && owned.account_id === domain.project_account_id
}

function verifiedByLocalRegistrar(name: string, platform_ip: string): VerificationResult {
  const message = `${name} was bought here and is resolved by the instance’s own DNS server.`
  return { outcome: 'valid', error: null, checks: [{ type: 'A', name, expected: platform_ip, found: [platform_ip], ok: true, message }] }
}
