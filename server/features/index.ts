import { databaseDumpOperations } from '../contract/databases.ts'
import { domainSalesOperations, domainOperations } from '../contract/domains.ts'
import { envVarOperations } from '../contract/env-vars.ts'
import type { Handlers, OperationId } from '../contract/index.ts'
import { requireDeployment, requireProject } from './access.ts'
import { createBackupHandlers } from './backups.ts'
import { createBillingHandlers } from './billing.ts'
import { createCacheHandlers } from './cache.ts'
import type { OperationContext } from './context.ts'
import { createDatabaseDumpHandlers, requireDatabaseDump } from './database-dumps.ts'
import { createDatabaseHandlers } from './databases.ts'
import { createDeploymentHandlers } from './deployments.ts'
import type { FeatureDeps } from './deps.ts'
import { createDiskHandlers } from './disk.ts'
import { createDomainSalesHandlers } from './domain-sales.ts'
import { createDomainHandlers, requireDomain } from './domains.ts'
import { createEnvVarHandlers, requireEnvVar } from './env-vars.ts'
import { createHttpsHandlers } from './https.ts'
import { createInstanceHandlers } from './instance.ts'
import { createLanHandlers } from './lan.ts'
import { createOwnerPasswordHandlers } from './owner-password.ts'
import { createVerificationHandlers } from './registration.ts'
import { createMetricsHandlers } from './metrics.ts'
import { createUserHandlers } from './users.ts'
import { createPreviewHandlers } from './previews.ts'
import { createProjectHandlers } from './projects.ts'
import { createRemoteHandlers } from './remotes.ts'
import { createScreenshotHandlers } from './screenshots.ts'
import { createTokenHandlers } from './tokens.ts'
import { createTeamHandlers } from './team.ts'
import { createUploadHandlers } from './uploads.ts'

export type { FeatureDeps } from './deps.ts'

/** Every handler by operation ID. A missing handler is a type error. */
export function createHandlers(deps: FeatureDeps): Handlers<OperationContext> {
  return {
    ...createProjectHandlers(deps),
    ...createBackupHandlers(deps),
    ...createPreviewHandlers(deps),
    ...createBillingHandlers(deps),
    ...createCacheHandlers(deps),
    ...createDatabaseHandlers(deps),
    ...createDatabaseDumpHandlers(deps),
    ...createDeploymentHandlers(deps),
    ...createEnvVarHandlers(deps),
    ...createDomainHandlers(deps),
    ...createDomainSalesHandlers(deps),
    ...createInstanceHandlers(deps),
    ...createMetricsHandlers(deps),
    ...createLanHandlers(deps),
    ...createOwnerPasswordHandlers(deps),
    ...createUserHandlers(deps),
    ...createTeamHandlers(deps),
    ...createVerificationHandlers(deps),
    ...createHttpsHandlers(deps),
    ...createRemoteHandlers(deps),
    ...createScreenshotHandlers(deps),
    ...createTokenHandlers(deps),
    ...createUploadHandlers(deps),
    ...createDiskHandlers(deps),
  }
}

const domainScopedOperations = { ...domainOperations, ...domainSalesOperations }

/** Returns the ID of the project or domain in a path, or throws a 404 if the caller may not see it. The API server calls it before it validates query and body. */
export function createResourceAuthorizer(
  deps: FeatureDeps,
): (context: OperationContext, id: OperationId, params: Record<string, string>) => Promise<string | undefined> {
  return ({ caller }, operation, { slug, id }) =>
    deps.store.db.read((tx) => {
      if (slug === undefined) return id !== undefined && operation in domainScopedOperations ? requireDomain(tx, caller, id).id : undefined
      if (id === undefined) return requireProject(tx, caller, slug).id
      if (operation in databaseDumpOperations) return requireDatabaseDump(tx, caller, { slug, id }).project_id
      if (operation in envVarOperations) return requireEnvVar(tx, caller, { slug, id }).project_id
      return requireDeployment(tx, caller, slug, id).project.id
    })
}
