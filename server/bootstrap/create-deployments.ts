import { describeSource, explainFailure, planSource } from '../builder/index.ts'
import { plans } from '../contract/plans.ts'
import type { DatabaseService } from '../database/database-service.ts'
import { createGitWatcher } from '../deployments/git-watcher.ts'
import { createSourcePlanner } from '../deployments/source-planner.ts'
import { createDeploymentService } from '../deployments/service.ts'
import type { CachePurger } from '../features/cache-purge.ts'
import { effectivePlanOfAccount } from '../features/plans.ts'
import { explainMissingPayment } from '../features/preconditions.ts'
import type { MailCatcher } from '../mail-catcher/mail-catcher.ts'
import type { ScreenshotService } from '../screenshots/screenshot-service.ts'
import { type SourceFetcher, watchRepository } from '../source/index.ts'
import { toPublicName } from '../lib/apps-domain.ts'
import { findAccount } from '../store/users.ts'
import type { TraceReceiver } from '../tracing/trace-receiver.ts'
import type { PlatformContext } from './context.ts'
import type { PlatformEdge } from './start-edge.ts'
import type { PlatformRuntimes } from './start-runtimes.ts'

interface DeploymentParts {
  runtimes: PlatformRuntimes
  edge: PlatformEdge
  databases: DatabaseService
  mailCatcher: MailCatcher
  traces: TraceReceiver
  source: SourceFetcher
  screenshots: ScreenshotService
  purge: CachePurger
}

/** Creates the deployment service, and the watcher that deploys what is pushed to linked repositories. */
export function createDeployments(
  context: PlatformContext,
  { runtimes, edge, databases, mailCatcher, traces, source, screenshots, purge }: DeploymentParts,
) {
  const { options, host, data_dir, store, sealer, events, settings, urls, clock, log, onClose } = context
  const purgeHost = (projectId: string, name: string) =>
    Promise.all([...new Set([name, toPublicName(name, options.apps_domain)])].map((one) => edge.edge.cache.purgeHost(projectId, one)))
  const deployments = createDeploymentService({
    store,
    edge: edge.edge,
    databases,
    mailCatcher,
    traces,
    runtimes: runtimes.runtimes,
    default_runtime: runtimes.runtime.name,
    fetchSource: source.fetchSource,
    planSource,
    explainFailure,
    sealer,
    events,
    clock,
    log,
    data_dir,
    settings: settings.current,
    purgeEdgeCache: async (projectId, name) => {
      const purged = name === undefined ? purge(projectId, { all: true }, 'deploy') : purgeHost(projectId, name)
      // A deploy does not wait for a failed disk removal, because the running edge no longer serves the purged entries.
      await purged.catch((error: unknown) => log.error('cache_purge_failed', { project: projectId, error }))
    },
    getPlanLimits: (tx, account) => plans[effectivePlanOfAccount(tx, account, clock.now())],
    findDatabaseObstacle: (tx, accountId) => {
      const account = findAccount(tx, accountId)
      return account && explainMissingPayment(account, 'A database', clock.now())
    },
    urlOf: edge.getAppUrl,
    localUrlOf: edge.getLocalAppUrl,
    deleteScreenshots: screenshots.remove,
    dashboardUrlOf: (slug) => `${urls.dashboard}projects/${slug}`,
    readAvailableMemory: async (name) => (host.available_memory_mb ? host.available_memory_mb() : runtimes.runtimes[name].readAvailableMemory()),
    cpus: options.cpus,
  })
  edge.connect(deployments)
  const watcher = createGitWatcher({
    store,
    events,
    clock,
    log,
    sealer,
    deployments,
    listBranches: source.listBranches,
    listPullRequests: source.listPullRequests,
    listContainedCommits: source.listContainedCommits,
    listChangedFiles: source.listChangedFiles,
    followRepository: watchRepository,
  })
  onClose(() => watcher.close())
  const sourcePlanner = createSourcePlanner({
    data_dir,
    default_runtime: runtimes.runtime.name,
    fetchSource: source.fetchSource,
    sealer,
    clock,
    describeSource,
    store,
    databases,
    mailCatcher,
    schemaUrl: () => `${urls.api}/schemas/homeport.json`,
  })
  return { deployments, watcher, sourcePlanner }
}
