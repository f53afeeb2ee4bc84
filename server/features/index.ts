import { databaseDumpOperations } from '../contract/databases.ts'
import { domainMarketOperations, domainOperations } from '../contract/domains.ts'
import { envVarOperations } from '../contract/env-vars.ts'
import type { Handlers, OperationId } from '../contract/index.ts'
import { deploymentFor, projectFor } from './access.ts'
import { createBackupHandlers } from './backups.ts'
import { createBillingHandlers } from './billing.ts'
import { createCacheHandlers } from './cache.ts'
import type { Context } from './context.ts'
import { createDatabaseDumpHandlers, dumpFor } from './database-dumps.ts'
import { createDatabaseHandlers } from './databases.ts'
import { createDeploymentHandlers } from './deployments.ts'
import type { FeatureDeps } from './deps.ts'
import { createDiskHandlers } from './disk.ts'
import { createDomainMarketHandlers } from './domain-market.ts'
import { createDomainHandlers, domainFor } from './domains.ts'
import { createEnvVarHandlers, envVarFor } from './env-vars.ts'
import { createHttpsHandlers } from './https.ts'
import { createInstanceHandlers } from './instance.ts'
import { createLanHandlers } from './lan.ts'
import { createPasswordHandlers } from './password.ts'
import { createVerificationHandlers } from './joining.ts'
import { createMetricsHandlers } from './metrics.ts'
import { createPeopleHandlers } from './people.ts'
import { createPreviewHandlers } from './previews.ts'
import { createProjectHandlers } from './projects.ts'
import { createRemoteHandlers } from './remotes.ts'
import { createScreenshotHandlers } from './screenshots.ts'
import { createTokenHandlers } from './tokens.ts'
import { createTeamHandlers } from './team.ts'
import { createUploadHandlers } from './uploads.ts'

export type { FeatureDeps } from './deps.ts'

/** Every use case, by operation id. A forgotten one does not compile. */
export function createHandlers(deps: FeatureDeps): Handlers<Context> {
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
    ...createDomainMarketHandlers(deps),
    ...createInstanceHandlers(deps),
    ...createMetricsHandlers(deps),
    ...createLanHandlers(deps),
    ...createPasswordHandlers(deps),
    ...createPeopleHandlers(deps),
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

const ofDomains = { ...domainOperations, ...domainMarketOperations }

/** Throws the 404 of whatever a path names that the caller may not see, else returns the id of its project or domain; the gate asks before it reads query and body. */
export function createResolver(
  deps: FeatureDeps,
): (context: Context, id: OperationId, params: Record<string, string>) => Promise<string | undefined> {
  return ({ caller }, operation, { slug, id }) =>
    deps.store.db.read((tx) => {
      if (slug === undefined) return id !== undefined && operation in ofDomains ? domainFor(tx, caller, id).id : undefined
      if (id === undefined) return projectFor(tx, caller, slug).id
      if (operation in databaseDumpOperations) return dumpFor(tx, caller, { slug, id }).project_id
      if (operation in envVarOperations) return envVarFor(tx, caller, { slug, id }).project_id
      return deploymentFor(tx, caller, slug, id).project.id
    })
}
