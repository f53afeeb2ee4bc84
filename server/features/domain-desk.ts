import type { Domain, DomainCheck } from '../contract/domains.ts'
import type { Dns, Examination } from '../dns/dns.ts'
import type { Bus } from '../lib/bus.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { type DomainView, findDomainView, findOwnedAbove, listDomainsDue, updateDomain } from '../store/domains.ts'
import type { Db, Tx } from '../store/open.ts'
import { withdrawTransfer } from '../store/owned-domains.ts'

/** Looks where names lead, and lets those route that lead here. */
export interface DomainDesk {
  /** The address that A records must name. */
  platformIp(): string
  /** Whether names are sold here. */
  purchaseEnabled(): boolean
  /** Names of the instance itself, which nobody's project gets. */
  ownNames(): readonly string[]
  /** Looks now; undefined when the domain is gone. */
  check(id: string): Promise<DomainCheck[] | undefined>
  /** Looks again at what was verified, for the hourly round: each name once a day, and hourly while there is a fault. */
  round(signal: AbortSignal): Promise<void>
}

export interface DomainDeskOptions extends Pick<DomainDesk, 'platformIp' | 'purchaseEnabled' | 'ownNames'> {
  db: Db
  dns: Dns
  bus: Bus
  clock: Clock
  /** The verified names of a project are others now. */
  refreshHosts(projectId: string): void
  /** Addresses that lead here too, as seen from this machine or its network. */
  ownAddresses(): readonly string[]
}

const day_ms = 24 * 3_600_000
/** A record that is being changed, or a resolver's bad hour, takes no site down. */
const patience = 3

export function createDomainDesk(options: DomainDeskOptions): DomainDesk {
  const { db, dns, bus, clock, platformIp, purchaseEnabled, ownNames } = options
  const now = () => isoTime(clock.now())
  /** However many ask for a look at the same name at once, it is one. */
  const looking = new Map<string, Promise<Seen | undefined>>()

  /** `is_asked`: somebody waits for the answer, and what it says holds at once. */
  async function look(id: string, is_asked: boolean): Promise<Seen | undefined> {
    const found = await db.read((tx) => {
      const domain = findDomainView(tx, id)
      return domain && { domain, is_sold: isSoldHere(tx, domain, now()) }
    })
    if (!found) return undefined
    const { hostname } = found.domain
    const sight = found.is_sold ? soldHere(hostname, platformIp()) : await dns.examine(hostname, platformIp())
    // The network was opened or the machine moved since: what led here when it was verified, and still does, stays.
    const seen = !is_asked && leadsTo(sight, options.ownAddresses()) ? { ...sight, verdict: 'here' as const, error: null } : sight
    const changed = await db.write((tx) => {
      const domain = findDomainView(tx, id)
      if (!domain) return undefined
      // Whoever asks whether a name on its way to another registrar leads here, and it does, wants to keep it.
      const isKept = domain.status === 'transfer_requested' && is_asked && seen.verdict === 'here'
      if (isKept && domain.owned_domain_id !== null) withdrawTransfer(tx, domain.owned_domain_id)
      const { status, failed_checks } = nextOf(isKept ? { ...domain, status: 'pending' } : domain, seen, is_asked)
      const at = now()
      updateDomain(tx, id, {
        status,
        failed_checks,
        verified_at: status !== 'verified' ? null : domain.status === 'verified' ? domain.verified_at : at,
        last_check_at: at,
        last_check_error: seen.error,
      })
      return { project_id: domain.project_id, is_other: status !== domain.status }
    })
    if (!changed) return undefined
    if (changed.is_other) options.refreshHosts(changed.project_id)
    if (changed.is_other || is_asked) bus.emit(`project:${changed.project_id}`)
    return seen
  }

  return {
    platformIp,
    purchaseEnabled,
    ownNames,
    async check(id) {
      const going = looking.get(id) ?? look(id, true).finally(() => looking.delete(id))
      looking.set(id, going)
      return (await going)?.checks
    },
    async round(signal) {
      const due = await db.read((tx) => listDomainsDue(tx, isoTime(clock.now() - day_ms)))
      for (const { id } of due) {
        if (signal.aborted) return
        const seen = await look(id, false)
        // Offline: the others would wait in vain as well.
        if (seen?.verdict === 'unknown') return
      }
    },
  }
}

const leadsTo = ({ checks: [first] }: Seen, addresses: readonly string[]): boolean =>
  first !== undefined && first.found.length > 0 && first.found.every((one) => addresses.includes(one))

type Seen = Pick<Examination, 'verdict' | 'error' | 'checks'>

function nextOf(domain: DomainView, seen: Seen, is_asked: boolean): { status: Domain['status']; failed_checks: number } {
  const { status, failed_checks } = domain
  if (status === 'transfer_requested') return { status, failed_checks: 0 }
  if (seen.verdict === 'here') return { status: 'verified', failed_checks: 0 }
  if (status !== 'verified') return { status: 'failed', failed_checks: 0 }
  if (seen.verdict === 'unknown') return { status, failed_checks }
  const failed = failed_checks + 1
  return is_asked || failed >= patience ? { status: 'failed', failed_checks: 0 } : { status, failed_checks: failed }
}

/** A name that the instance sold itself, or one below it: it needs no proof, and public DNS knows nothing of it. */
function isSoldHere(tx: Tx, domain: DomainView, now: string): boolean {
  const owned = findOwnedAbove(tx, domain.hostname, now)
  return owned?.registrar === 'local' && owned.is_registered === 1 && owned.account_id === domain.project_account_id
}

function soldHere(name: string, platform_ip: string): Seen {
  const message = `${name} was bought here, and is answered by the instance’s own DNS server.`
  return { verdict: 'here', error: null, checks: [{ type: 'A', name, expected: platform_ip, found: [platform_ip], ok: true, message }] }
}
