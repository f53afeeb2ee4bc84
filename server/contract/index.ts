import { activityOperations } from './activity.ts'
import { billingOperations } from './billing.ts'
import { buildCacheOperations } from './build-cache.ts'
import { cacheOperations } from './cache.ts'
import { commandOperations } from './commands.ts'
import { devOperations } from './dev.ts'
import { databaseUpgradeOperations } from './database-upgrades.ts'
import { databaseBrowserOperations } from './database-browser.ts'
import { databaseDumpOperations, databaseLookupOperations, databaseOperations } from './databases.ts'
import { deploymentOperations, glanceOperations } from './deployments.ts'
import { logDrainOperations } from './log-drains.ts'
import { deployHookOperations } from './deploy-hooks.ts'
import { domainSalesOperations, domainOperations } from './domains.ts'
import { forkOperations } from './forks.ts'
import { envVarOperations, projectEnvVarOperations } from './env-vars.ts'
import { instanceOperations } from './instance.ts'
import { instanceUsageOperations } from './instance-usage.ts'
import { logDownloadOperations } from './log-downloads.ts'
import { logSearchOperations } from './log-search.ts'
import { mailOperations } from './mail.ts'
import { managedServiceOperations } from './managed-services.ts'
import { metricsOperations, sparklineOperations } from './metrics.ts'
import { projectMetricsOperations } from './project-metrics.ts'
import { networkOperations } from './network.ts'
import { accountNotificationOperations, notificationOperations } from './notifications.ts'
import type { HandlersOf, OperationSpec, ResourceKind } from './operation.ts'
import { traceOperations } from './traces.ts'
import { teamOperations } from './teams.ts'
import { previewOperations, screenshotOperations, watchOperations } from './previews.ts'
import { projectOperations, projectSearchOperations } from './projects.ts'
import { autoscalingOperations } from './autoscaling.ts'
import { projectSettingsOperations } from './project-settings.ts'
import { serviceOperations } from './services.ts'
import { sourcePlanOperations } from './source-plans.ts'
import { sourceOperations } from './sources.ts'
import { requestCaptureOperations } from './request-captures.ts'
import { requestOperations } from './requests.ts'
import { rollbackPlanOperations } from './rollbacks.ts'
import { nodeOperations } from './nodes.ts'
import { standbyOperations } from './standbys.ts'
import { registryOperations } from './registries.ts'
import { remoteOperations } from './remotes.ts'
import { scopedTokenOperations, tokenOperations } from './tokens.ts'
import { backupOperations, diskOperations } from './maintenance.ts'
import { unsavedFilesOperations } from './unsaved-files.ts'
import { volumeOperations } from './volumes.ts'
import { commitUploadOperations, uploadOperations } from './uploads.ts'

/** The 45 operations of the /v1 API. */
export const operations = {
  ...projectOperations,
  ...cacheOperations,
  ...databaseOperations,
  ...deploymentOperations,
  ...previewOperations,
  ...screenshotOperations,
  ...metricsOperations,
  ...envVarOperations,
  ...billingOperations,
  ...domainOperations,
  ...domainSalesOperations,
  ...tokenOperations,
  ...uploadOperations,
} satisfies Record<string, OperationSpec>

/** `operations` and the operations under /instance, for the command line and the dashboard. */
export const allOperations = {
  ...operations,
  ...instanceOperations,
  ...instanceUsageOperations,
  ...teamOperations,
  ...rollbackPlanOperations,
  ...databaseDumpOperations,
  ...databaseUpgradeOperations,
  ...databaseLookupOperations,
  ...databaseBrowserOperations,
  ...networkOperations,
  ...sparklineOperations,
  ...projectSearchOperations,
  ...projectSettingsOperations,
  ...autoscalingOperations,
  ...buildCacheOperations,
  ...logDownloadOperations,
  ...logSearchOperations,
  ...projectEnvVarOperations,
  ...glanceOperations,
  ...watchOperations,
  ...diskOperations,
  ...backupOperations,
  ...remoteOperations,
  ...scopedTokenOperations,
  ...serviceOperations,
  ...managedServiceOperations,
  ...nodeOperations,
  ...standbyOperations,
  ...registryOperations,
  ...mailOperations,
  ...requestOperations,
  ...traceOperations,
  ...requestCaptureOperations,
  ...activityOperations,
  ...projectMetricsOperations,
  ...volumeOperations,
  ...unsavedFilesOperations,
  ...devOperations,
  ...forkOperations,
  ...commandOperations,
  ...sourceOperations,
  ...sourcePlanOperations,
  ...commitUploadOperations,
  ...notificationOperations,
  ...accountNotificationOperations,
  ...deployHookOperations,
  ...logDrainOperations,
} satisfies Record<string, OperationSpec>

export type Operations = typeof allOperations
export type OperationId = keyof Operations
export type Handlers<Context, Resources extends Record<ResourceKind, object>> = HandlersOf<Operations, Context, Resources>

export const version = '0.1.0'
