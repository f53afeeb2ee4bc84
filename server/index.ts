import { join } from 'node:path'
import { openPlatformContext } from './bootstrap/context.ts'
import { createDeployments } from './bootstrap/create-deployments.ts'
import { createPlatformDomainVerifier } from './bootstrap/create-domain-verifier.ts'
import { createFeatureDeps } from './bootstrap/create-feature-deps.ts'
import { createPlatformLan } from './bootstrap/create-lan.ts'
import { createPlatformLogDrains } from './bootstrap/create-log-drains.ts'
import { createPlatformMailCatcher } from './bootstrap/create-mail-catcher.ts'
import { createPlatformMaintenance } from './bootstrap/create-maintenance.ts'
import { createPlatformTraceReceiver } from './bootstrap/create-trace-receiver.ts'
import { createPlatformScreenshots } from './bootstrap/create-screenshots.ts'
import { startNotifications } from './bootstrap/start-notifications.ts'
import { createPlatformUsage } from './bootstrap/create-usage.ts'
import { recordLastRequests } from './bootstrap/record-last-requests.ts'
import { startApi } from './bootstrap/start-api.ts'
import { startBilling } from './bootstrap/start-billing.ts'
import { startDatabases } from './bootstrap/start-databases.ts'
import { startDomainSales } from './bootstrap/start-domain-sales.ts'
import { createNodeEdges } from './bootstrap/create-node-edges.ts'
import { openEdgeToContainers } from './bootstrap/open-edge-to-containers.ts'
import { startEdge } from './bootstrap/start-edge.ts'
import { getStartNotices } from './bootstrap/start-notices.ts'
import { startRuntimes } from './bootstrap/start-runtimes.ts'
import { writeInstance } from './bootstrap/write-instance.ts'
import { createAuthenticator } from './features/authenticator.ts'
import { createCachePurger } from './features/cache-purge.ts'
import { createDesktopFeed } from './features/desktop-feed.ts'
import { createIdempotencyStore } from './features/idempotency-store.ts'
import { removeInstanceFile } from './lib/instance-file.ts'
import type { PlatformOptions } from './options.ts'
import type { Platform, PlatformHost } from './platform.ts'
import { getRuntimesToStop } from './runtime/choose-runtime.ts'
import { trustHostCertificates } from './source/certificates.ts'
import { createSourceFetcher } from './source/index.ts'

export type { DesktopFeed, DesktopUpdate, DesktopDeploymentResult, DesktopProject } from './features/desktop-feed.ts'
export { runStandby } from './bootstrap/run-standby.ts'
export { DataFolderInUseError, type Platform, type PlatformHost } from './platform.ts'

/** Starts a whole platform on a data folder and resolves once the platform is ready. With bootstrap/, the only code that chooses drivers and knows ports. */
export async function startPlatform(options: PlatformOptions, host: PlatformHost = {}): Promise<Platform> {
  const context = await openPlatformContext(options, host)
  const { data_dir, store, events, sealer, settings, identity, urls, clock, log, onClose } = context
  const { db } = store
  try {
    const runtimes = await startRuntimes(context)
    const source = createSourceFetcher({ environment: await trustHostCertificates(options.environment, join(data_dir, 'cache')) })
    const edge = await startEdge(context)
    const purge = createCachePurger({ db, cache: edge.edge.cache, clock, apps_domain: options.apps_domain })
    const screenshots = createPlatformScreenshots(context, edge)
    openEdgeToContainers(context, runtimes, edge)
    const { databases, dumps } = await startDatabases(context, runtimes)
    const logDrains = createPlatformLogDrains(context)
    const mailCatcher = createPlatformMailCatcher(context, runtimes)
    const traces = await createPlatformTraceReceiver(context, runtimes)
    const deploymentParts = { runtimes, edge, databases, mailCatcher, traces, source, screenshots, purge }
    const { deployments, watcher, sourcePlanner } = createDeployments(context, deploymentParts)
    const usage = createPlatformUsage(context, deployments)
    const maintenance = await createPlatformMaintenance(context, { runtimes, databases, deployments })
    const billing = await startBilling(context, maintenance.jobs)
    maintenance.jobs.add('mail_catcher', () => mailCatcher.listen())
    const domainVerifier = createPlatformDomainVerifier(context, deployments)
    maintenance.jobs.add('domains', domainVerifier.recheckDueDomains)
    const domainSales = await startDomainSales(context, { deployments, domainVerifier, jobs: maintenance.jobs })

    const authenticator = createAuthenticator({ db, clock })
    const idempotencyStore = createIdempotencyStore({ db, sealer, clock })
    maintenance.jobs.add('kept_answers', idempotencyStore.deleteExpired)
    const lan = createPlatformLan(context)
    const nodeEdges = createNodeEdges(context, { nodes: runtimes.runtimes[runtimes.runtime.name].nodes, lease: runtimes.lease }, edge)
    const parts = {
      authenticator,
      billing,
      databases,
      deployments,
      domainSales,
      domainVerifier,
      dumps,
      edge,
      lan,
      logDrains,
      mailCatcher,
      maintenance,
      nodeEdges,
      traces,
    }
    const features = await createFeatureDeps(context, { ...parts, purge, runtimes, screenshots, source, sourcePlanner, usage, watcher })
    const api = await startApi(context, { features, authenticator, idempotencyStore, lan, ...runtimes })

    startNotifications(context, { edge, mail: features.mail, jobs: maintenance.jobs })
    await maintenance.restoreDatabases()
    await mailCatcher.start()
    await traces.start()
    await logDrains.reload()
    await deployments.start()
    edge.publicNames.start()
    nodeEdges.start(deployments.whenRecovered(runtimes.runtime.name))
    watcher.start()
    const restoreNotices = await maintenance.start(({ id, project_id }) => deployments.enqueue({ project_id, trigger: 'retry', source: { of: id } }))
    await screenshots.start()
    await lan.start({
      api: { host: options.host, port: api.port, open: api.server.listenOnNetwork },
      edge: { host: options.host, port: edge.plain.port, open: edge.edge.listenOnNetwork },
    })
    const desktopFeed = createDesktopFeed({ db, deployments, events, clock, log, owner: identity.owner })
    onClose(() => desktopFeed.close())
    const lastRequests = recordLastRequests({ db, edge: edge.edge, clock, log })
    const { instance, signInUrl } = await writeInstance(context, runtimes.runtime)

    const stop = async () => {
      lastRequests.close()
      await lan.close()
      const apiClosed = api.server.close({ grace_ms: 2_000 })
      const stopped = getRuntimesToStop(settings.current().on_exit)
      await watcher.close()
      await deployments.close(stopped)
      await databases.close(stopped)
      await apiClosed
      await context.close()
      removeInstanceFile(data_dir, process.pid)
    }
    let stopping: Promise<void> | undefined

    return {
      instance,
      api_url: urls.api,
      edge_url: urls.edge,
      dashboard_url: urls.dashboard,
      version: instance.version,
      notices: [...getStartNotices(context, lan), ...restoreNotices, ...edge.notices],
      lost: runtimes.lost,
      signInUrl,
      desktopFeed,
      resync() {
        deployments.resync()
        watcher.resync()
      },
      stop: () => (stopping ??= stop()),
    }
  } catch (error) {
    await context.close()
    throw error
  }
}
