import { stat } from 'node:fs/promises'
import { join, isAbsolute } from 'node:path'
import { version } from '../contract/index.ts'
import { createEmailSender } from '../email/smtp.ts'
import type { Authenticator } from '../features/authenticator.ts'
import { createCommandTickets } from '../features/command-tickets.ts'
import type { DoctorOptions } from '../features/doctor.ts'
import { runDoctor } from '../features/doctor.ts'
import type { FeatureDeps } from '../features/index.ts'
import { checkStandbys } from '../features/standby-checks.ts'
import { createDiskManager, usesDocker } from '../maintenance/disk-usage.ts'
import type { MaintenanceScheduler } from '../maintenance/scheduler.ts'
import { createDockerDisk } from '../runtime/docker/disk-usage.ts'
import type { ScreenshotService } from '../screenshots/screenshot-service.ts'
import { createArchiveQuarantine } from '../source/archive.ts'
import type { SourceFetcher } from '../source/index.ts'
import { findProject } from '../store/projects.ts'
import type { PlatformContext } from './context.ts'
import type { PlatformLan } from './create-lan.ts'
import { createPlatformRemotes } from './create-remotes.ts'
import type { PlatformEdge } from './start-edge.ts'
import type { PlatformRuntimes } from './start-runtimes.ts'

type FeatureParts = Pick<
  FeatureDeps,
  | 'billing'
  | 'databases'
  | 'deployments'
  | 'domainVerifier'
  | 'dumps'
  | 'logDrains'
  | 'mailCatcher'
  | 'nodeEdges'
  | 'purge'
  | 'sourcePlanner'
  | 'traces'
  | 'usage'
  | 'watcher'
> & {
  authenticator: Authenticator
  domainSales: FeatureDeps['domainSales'] & { checks: DoctorOptions['domainSales'] }
  edge: PlatformEdge
  lan: PlatformLan
  maintenance: MaintenanceScheduler
  runtimes: PlatformRuntimes
  screenshots: ScreenshotService
  source: SourceFetcher
}

/** Gathers what the handlers of the API work with. */
export async function createFeatureDeps(
  context: PlatformContext,
  { authenticator, edge: edgeParts, lan, maintenance, runtimes: runtimeParts, screenshots, source, ...parts }: FeatureParts,
): Promise<FeatureDeps> {
  const { options, data_dir, store, sealer, settings, masterKey, urls, clock, log, onClose } = context
  const { edge, localHttps } = edgeParts
  const { docker, runtimes, runtime } = runtimeParts
  const encryption = masterKey.kind
  const mail = createEmailSender({ url: options.smtp_url, from: options.smtp_from, log })
  onClose(() => mail.close())
  return {
    ...parts,
    store,
    sealer,
    clock,
    log,
    settings,
    commandTickets: createCommandTickets({ clock, deployments: parts.deployments }),
    cache: edge.cache,
    metrics: edgeParts.metrics,
    metricTotals: edgeParts.metricTotals,
    requests: edgeParts.requests,
    capture: edge.requests,
    findRoute: edge.getRoute,
    edgeAddress: edgeParts.addressFor,
    applyEdgeSettings: () => edgeParts.workers?.applySettings(),
    instance: () => ({
      version,
      api_url: urls.api,
      edge_url: urls.edge,
      edge_https_url: urls.edge_https,
      apps_url: urls.apps,
      dashboard_url: urls.dashboard,
      runtime,
      encryption,
      is_local: true,
    }),
    runtimes,
    listDockerLogins: docker.dockerLogin.listHosts,
    cpus: options.cpus,
    archives: await createArchiveQuarantine(join(data_dir, 'quarantine')),
    screenshots,
    backups: maintenance.backups,
    replication: maintenance.replication,
    findSuccessor: () => runtimeParts.lease?.standby() ?? null,
    ...createPlatformRemotes(context, { lan, authenticator, jobs: maintenance.jobs }),
    mail,
    disk: createDiskManager({
      data_dir,
      store,
      deployments: parts.deployments,
      docker: createDockerDisk(docker, clock),
      usesDocker: usesDocker(store.db, runtimes.docker, clock),
      cache: edge.cache,
      clock,
      log,
    }),
    localHttps,
    apps_domain: options.apps_domain,
    urlOf: edgeParts.getAppUrl,
    publicNames: edgeParts.publicNames,
    lan,
    describeFolder: (path) => source.describeFolder(path),
    isFolder: async (path) => isAbsolute(path) && ((await stat(path).catch(() => undefined))?.isDirectory() ?? false),
    doctor: (isQuick) =>
      runDoctor({
        is_quick: isQuick,
        network: lan.status,
        listAppPorts: () => parts.deployments.findPublicPorts(),
        listUnknownApps: async () =>
          (await parts.deployments.quarantine.list()).map(({ project_id, deployment_id }) => ({
            project: store.db.readSync((tx) => findProject(tx, project_id))?.slug ?? project_id,
            deployment_id,
          })),
        db: store.db,
        data_dir,
        runtimes: Object.values(runtimes),
        default_runtime: runtime.name,
        git: source.gitVersion,
        addresses: [
          { name: 'api', url: urls.api, fell_back: urls.api_fell_back },
          { name: 'edge', url: urls.edge, fell_back: edgeParts.plain.fell_back },
        ],
        encryption,
        localHttps: localHttps.runChecks,
        publicNames: edgeParts.publicNames.checks,
        backups: maintenance.backups.checks,
        nodeEdges: { list: () => [...parts.nodeEdges.listStatuses().values()], findClosedPorts: parts.nodeEdges.findClosedPorts },
        standbys: () => checkStandbys(runtimeParts.lease, maintenance.replication),
        databases: parts.databases.checks,
        domainSales: parts.domainSales.checks,
        screenshots: screenshots.check,
        window: options.window_note,
      }),
  }
}
