import { type Domain, registrant } from '../contract/domains.ts'
import { Problem } from '../contract/errors.ts'
import type { Handlers } from '../contract/index.ts'
import { isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import {
  deleteDomain,
  type DomainView,
  findDomainByHostname,
  findDomainView,
  findCoveringOwnedDomain,
  insertDomain,
  listDomainsOfProject,
  listDomainsOfAccounts,
} from '../store/domains.ts'
import type { Tx } from '../store/store.ts'
import { findAccount } from '../store/users.ts'
import type { OwnedDomainRow } from '../store/tables.ts'
import { listCallerAccountIds, canAccessAccount, requireAccountOwner, requireProject } from './access.ts'
import type { Caller, OperationContext } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import * as preconditions from './preconditions.ts'
import { requireAllowedHostname } from './hostname.ts'

type DomainHandlers = Pick<
  Handlers<OperationContext>,
  'listDomains' | 'getDomain' | 'listProjectDomains' | 'addDomain' | 'verifyDomain' | 'deleteDomain'
>

export function createDomainHandlers(deps: FeatureDeps): DomainHandlers {
  const { db } = deps.store
  const { domainVerifier, sealer } = deps
  const platformFields = () => ({ platform_ip: domainVerifier.platformIp(), purchase_enabled: domainVerifier.isPurchaseEnabled() })

  return {
    async listDomains({ caller }) {
      const rows = await db.read((tx) => listDomainsOfAccounts(tx, listCallerAccountIds(tx, caller)))
      return { ...platformFields(), domains: rows.map(presentDomain) }
    },

    async getDomain({ caller }, { params }) {
      const row = await db.read((tx) => requireDomain(tx, caller, params.id))
      const sealed = row.sealed_registrant
      const encryptionContext = { table: 'owned_domains', column: 'sealed_registrant', row: row.owned_domain_id ?? '' }
      return {
        platform_ip: domainVerifier.platformIp(),
        domain: {
          ...presentDomain(row),
          registrar: row.registrar === null ? null : { name: row.registrar, reference: row.reference ?? '' },
          registrant: sealed === null ? null : registrant.parse(JSON.parse(sealer.unseal(encryptionContext, sealed))),
        },
      }
    },

    async listProjectDomains({ caller }, { params }) {
      const rows = await db.read((tx) => listDomainsOfProject(tx, requireProject(tx, caller, params.slug).id))
      return { ...platformFields(), domains: rows.map(presentDomain) }
    },

    async addDomain({ caller, saveResponse }, { params, body }) {
      const { hostname } = body
      return db.write((tx) => {
        const project = requireProject(tx, caller, params.slug)
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
        const created = { domain: presentDomain(requireDomain(tx, caller, id)) }
        saveResponse?.(tx, created)
        tx.publish({ type: 'project_changed', id: project.id })
        return created
      })
    },

    async verifyDomain({ caller }, { params }) {
      await db.read((tx) => requireDomain(tx, caller, params.id))
      const checks = await domainVerifier.check(params.id)
      // It may have been removed in the meantime.
      const row = await db.read((tx) => requireDomain(tx, caller, params.id))
      return { domain: presentDomain(row), checks: checks ?? [] }
    },

    async deleteDomain({ caller }, { params }) {
      const row = await db.write((tx) => {
        const found = requireDomain(tx, caller, params.id)
        if (found.owned_domain_id !== null) requireAccountOwner(caller, found.project_account_id, 'take away a domain that was bought')
        deleteDomain(tx, found.id)
        tx.publish({ type: 'project_changed', id: found.project_id })
        return found
      })
      deps.deployments.refreshHosts(row.project_id)
    },
  }
}

/** A domain that the caller may see, else a 404. */
export function requireDomain(tx: Tx, caller: Caller, id: string): DomainView {
  const row = findDomainView(tx, id)
  if (!row || !canAccessAccount(tx, caller, row.project_account_id))
    throw new Problem('domain_not_found', 'This domain does not exist, or you do not have access. List your domains with GET /v1/domains.')
  return row
}

/**
 * Throws when a name has a project already, or was bought by another account, itself or a name above it; what the account
 * bought itself is returned. Whose it is, is told to those alone who may see it.
 */
export function requireAvailableHostname(
  tx: Tx,
  caller: Caller,
  { hostname, account_id, now }: { hostname: string; account_id: string; now: string },
): OwnedDomainRow | undefined {
  const taken = findDomainByHostname(tx, hostname)
  const owned = findCoveringOwnedDomain(tx, hostname, now)
  if (taken && canAccessAccount(tx, caller, taken.project_account_id))
    throw new Problem('hostname_taken', `${hostname} is used by the project ${taken.project_slug}. Remove it there first.`)
  if (taken || (owned && owned.account_id !== account_id))
    throw new Problem('hostname_taken', `${hostname} is already in use on this instance. Choose another name.`)
  return owned
}

export function presentDomain(row: DomainView): Domain {
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
  }
}
