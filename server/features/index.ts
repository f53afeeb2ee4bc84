import { createActivityHandlers } from './activity.ts'
import { createBackupHandlers } from './backups.ts'
import { createBuildCacheHandlers } from './build-cache.ts'
import { createBillingHandlers } from './billing.ts'
import { createCacheHandlers } from './cache.ts'
import { createCommandHandlers } from './commands.ts'
import type { OperationHandlers } from './context.ts'
import { createDatabaseBrowserHandlers } from './database-browser.ts'
import { createDatabaseDumpHandlers } from './database-dumps.ts'
import { createDatabaseUpgradeHandlers } from './database-upgrades.ts'
import { createDatabaseHandlers } from './databases.ts'
import { createDeploymentHandlers } from './deployments.ts'
import type { FeatureDeps } from './deps.ts'
import { createDeployHookHandlers } from './deploy-hooks.ts'
import { createDevHandlers } from './dev.ts'
import { createForkHandlers } from './forks.ts'
import { createDiskHandlers } from './disk.ts'
import { createDomainSalesHandlers } from '../optional/domain-sales/handlers.ts'
import { createDomainHandlers } from './domains.ts'
import { createEnvVarHandlers } from './env-vars.ts'
import { createHttpsHandlers } from './https.ts'
import { createInstanceHandlers } from './instance.ts'
import { createInstanceUsageHandlers } from './instance-usage.ts'
import { createLanHandlers } from './lan.ts'
import { createLogDownloadHandlers } from './log-downloads.ts'
import { createLogSearchHandlers } from './log-search.ts'
import { createLogDrainHandlers } from './log-drains.ts'
import { createOwnerPasswordHandlers } from './owner-password.ts'
import { createVerificationHandlers } from './registration.ts'
import { createMailHandlers } from './mail.ts'
import { createManagedServiceHandlers } from './managed-services.ts'
import { createMetricsHandlers } from './metrics.ts'
import { createNodeHandlers } from './nodes.ts'
import { createStandbyHandlers } from './standbys.ts'
import { createNotificationHandlers } from './notifications.ts'
import { createProjectMetricsHandlers } from './project-metrics.ts'
import { createUnsavedFilesHandlers } from './unsaved-files.ts'
import { createVolumeHandlers } from './volumes.ts'
import { createUserHandlers } from './users.ts'
import { createPreviewHandlers } from './previews.ts'
import { createProjectHandlers } from './projects.ts'
import { createProjectSettingsHandlers } from './project-settings.ts'
import { createRegistryHandlers } from './registries.ts'
import { createRemoteHandlers } from './remotes.ts'
import { createServiceHandlers } from './services.ts'
import { createSourcePlanHandlers } from './source-plans.ts'
import { createScreenshotHandlers } from './screenshots.ts'
import { createRequestCaptureHandlers } from './request-captures.ts'
import { createRequestHandlers } from './requests.ts'
import { createTokenHandlers } from './tokens.ts'
import { createTraceHandlers } from './traces.ts'
import { createTeamHandlers } from './team.ts'
import { createUploadHandlers } from './uploads.ts'

export type { FeatureDeps } from './deps.ts'
export { createResourceResolver } from './resources.ts'

/** Every handler by operation ID. A missing handler is a type error. */
export function createHandlers(deps: FeatureDeps): OperationHandlers {
  return {
    ...createProjectHandlers(deps),
    ...createProjectSettingsHandlers(deps),
    ...createBackupHandlers(deps),
    ...createBuildCacheHandlers(deps),
    ...createLogDownloadHandlers(deps),
    ...createLogSearchHandlers(deps),
    ...createPreviewHandlers(deps),
    ...createBillingHandlers(deps),
    ...createCacheHandlers(deps),
    ...createDatabaseHandlers(deps),
    ...createDatabaseBrowserHandlers(deps),
    ...createDatabaseDumpHandlers(deps),
    ...createDatabaseUpgradeHandlers(deps),
    ...createActivityHandlers(deps),
    ...createDeploymentHandlers(deps),
    ...createEnvVarHandlers(deps),
    ...createDomainHandlers(deps),
    ...createDomainSalesHandlers(deps),
    ...createInstanceHandlers(deps),
    ...createInstanceUsageHandlers(deps),
    ...createMailHandlers(deps),
    ...createManagedServiceHandlers(deps),
    ...createMetricsHandlers(deps),
    ...createProjectMetricsHandlers(deps),
    ...createLanHandlers(deps),
    ...createOwnerPasswordHandlers(deps),
    ...createUserHandlers(deps),
    ...createVolumeHandlers(deps),
    ...createUnsavedFilesHandlers(deps),
    ...createTeamHandlers(deps),
    ...createVerificationHandlers(deps),
    ...createHttpsHandlers(deps),
    ...createNodeHandlers(deps),
    ...createStandbyHandlers(deps),
    ...createRegistryHandlers(deps),
    ...createRemoteHandlers(deps),
    ...createRequestHandlers(deps),
    ...createTraceHandlers(deps),
    ...createRequestCaptureHandlers(deps),
    ...createServiceHandlers(deps),
    ...createSourcePlanHandlers(deps),
    ...createScreenshotHandlers(deps),
    ...createTokenHandlers(deps),
    ...createUploadHandlers(deps),
    ...createDiskHandlers(deps),
    ...createDevHandlers(deps),
    ...createForkHandlers(deps),
    ...createCommandHandlers(deps),
    ...createNotificationHandlers(deps),
    ...createDeployHookHandlers(deps),
    ...createLogDrainHandlers(deps),
  }
}
