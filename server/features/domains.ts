import { type Domain, registrant } from '../contract/domains.ts'
import { Problem } from '../contract/errors.ts'
import type { PublicCertificate } from '../contract/network.ts'
import { isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import {
  deleteDomain,
  type DomainView,
  findDomainByHostname,
  findCoveringOwnedDomain,
  insertDomain,
  listDomainsOfProject,
  listDomainsOfAccounts,
} from '../store/domains.ts'
import type { Tx } from '../store/store.ts'
import { findAccount } from '../store/users.ts'
import type { OwnedDomainRow } from '../store/tables.ts'
import { isWithinProject, listCallerAccountIds, canAccessProject, requireAccountOwner, requireDomain } from './access.ts'
import type { Caller, OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import * as preconditions from './preconditions.ts'
import { requireAllowedHostname } from './hostname.ts'

type DomainHandlers = Pick<OperationHandlers, 'listDomains' | 'getDomain' | 'listProjectDomains' | 'addDomain' | 'verifyDomain' | 'deleteDomain'>

export function createDomainHandlers(deps: FeatureDeps): DomainHandlers {
  const { db } = deps.store
  const { domainVerifier, sealer } = deps
  const present = (row: DomainView) => presentDomain(row, row.status === 'verified' ? deps.publicNames.describe(row.hostname) : null)
  const platformFields = () => ({ platform_ip: domainVerifier.platformIp(), purchase_enabled: domainVerifier.isPurchaseEnabled() })

  return {
    async listDomains({ caller }) {
      const all = await db.read((tx) => listDomainsOfAccounts(tx, listCallerAccountIds(tx, caller)))
      const rows = all.filter(({ project_id }) => isWithinProject(caller, project_id))
      return { ...platformFields(), domains: rows.map(present) }
    },

    async getDomain({ domain: row }) {
      const sealed = row.sealed_registrant
      const encryptionContext = { table: 'owned_domains', column: 'sealed_registrant', row: row.owned_domain_id ?? '' }
      return {
        platform_ip: domainVerifier.platformIp(),
        domain: {
          ...present(row),
          registrar: row.registrar === null ? null : { name: row.registrar, reference: row.reference ?? '' },
          registrant: sealed === null ? null : registrant.parse(JSON.parse(sealer.unseal(encryptionContext, sealed))),
        },
      }
    },

    async listProjectDomains({ project }) {
      const rows = await db.read((tx) => listDomainsOfProject(tx, project.id))
      return { ...platformFields(), domains: rows.map(present) }
    },

    async addDomain({ caller, project, saveResponse }, { body }) {
      const { hostname } = body
      return db.write((tx) => {
        requireAllowedHostname(hostname, domainVerifier.instanceHostnames())
        const account = findAccount(tx, project.account_id)
        if (account) preconditions.requirePaymentMethod(account, 'A domain of your own', deps.clock.now())
        const now = isoTime(deps.clock.now())
        const owned = requireAvailableHostname(tx, caller, { hostname, account_id: project.account_id, now })
        if (owned?.hostname === hostname && owned.is_registered === 0)
          throw new Problem('hostname_taken', `${hostname} is being bought. Check your domains in a moment.`)
        const id = newId('dom')
        insertDomain(tx, {
          id,
          account_id: project.account_id,
          project_id: project.id,
          hostname,
          status: 'pending',
          verified_at: null,
          created_at: now,
          owned_domain_id: owned?.hostname === hostname ? owned.id : null,
        })
        const created = { domain: present(requireDomain(tx, caller, id)) }
        saveResponse?.(tx, created)
        tx.publish({ type: 'project_changed', id: project.id })
        return created
      })
    },

    async verifyDomain({ caller, domain }) {
      const checks = await domainVerifier.check(domain.id)
      await deps.publicNames.retry(domain.hostname)
      // It may have been removed in the meantime.
      const row = await db.read((tx) => requireDomain(tx, caller, domain.id))
      return { domain: present(row), checks: checks ?? [] }
    },

    async deleteDomain({ caller, domain }) {
      if (domain.owned_domain_id !== null) requireAccountOwner(caller, domain.project_account_id, 'remove a purchased domain')
      await db.write((tx) => {
        deleteDomain(tx, domain.id)
        tx.publish({ type: 'project_changed', id: domain.project_id })
      })
      deps.deployments.refreshHosts(domain.project_id)
    },
  }
}

/**
 * Throws if a name belongs to a project already, or was bought by another account, itself or a parent of it; the caller's own purchase
 * is returned. The owner is named only to callers who may see the domain.
 */
export function requireAvailableHostname(
  tx: Tx,
  caller: Caller,
  { hostname, account_id, now }: { hostname: string; account_id: string; now: string },
): OwnedDomainRow | undefined {
  const taken = findDomainByHostname(tx, hostname)
  const owned = findCoveringOwnedDomain(tx, hostname, now)
  if (taken && canAccessProject(tx, caller, { id: taken.project_id, account_id: taken.project_account_id }))
    throw new Problem('hostname_taken', `${hostname} is used by the project ${taken.project_slug}. Remove it there first.`)
  if (taken || (owned && owned.account_id !== account_id))
    throw new Problem('hostname_taken', `${hostname} is already in use on this instance. Choose another name.`)
  return owned
}

export function presentDomain(row: DomainView, certificate: PublicCertificate | null): Domain {
  return {
    id: row.id,
    hostname: row.hostname,
    status: row.status,
    verified_at: row.verified_at,
    last_check_at: row.last_check_at,
    last_check_error: row.last_check_error ?? row.owned_error,
    created_at: row.created_at,
    account_owned_domain_id: row.owned_domain_id,
    expires_at: row.expires_at,
    auto_renew: row.auto_renew === null ? null : row.auto_renew === 1,
    transfer_requested_at: row.transfer_requested_at,
    project_id: row.project_id,
    project_slug: row.project_slug,
    project_name: row.project_name,
    certificate,
  }
}
