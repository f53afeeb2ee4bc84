import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { explainFailure, planBuild } from './builder/index.ts'
import { version } from './contract/index.ts'
import { createDatabaseService } from './database/database-service.ts'
import { createDumpStore } from './database/dump-store.ts'
import { createDatabaseServers } from './database/index.ts'
import { createDeploymentService, type DeploymentService } from './deployments/service.ts'
import { createGitWatcher } from './deployments/git-watcher.ts'
import { createAuthenticator, createSignInCode } from './features/authenticator.ts'
import { runDoctor } from './features/doctor.ts'
import { createDesktopFeed } from './features/desktop-feed.ts'
import { bootstrapInstance } from './features/bootstrap-instance.ts'
import type { FeatureDeps } from './features/index.ts'
import { createIdempotencyStore } from './features/idempotency-store.ts'
import { createLanDataSource } from './features/lan.ts'
import { plans } from './contract/plans.ts'
import { effectivePlanOfAccount } from './features/plans.ts'
import { createCachePurger } from './features/cache-purge.ts'
import { createSettingsService } from './features/settings.ts'
import { createFileMasterKey } from './keys/file-key.ts'
import { createLanAccess, type LanAccess } from './network/lan.ts'
import { isoTime, systemClock } from './lib/clock.ts'
import { type InstanceFile, isProcessAlive, readInstanceFile, removeInstanceFile, writeInstanceFile } from './lib/instance-file.ts'
import { silentLog } from './lib/log.ts'
import { describeListenError } from './lib/listen-error.ts'
import { createEmailSender } from './email/smtp.ts'
import type { PlatformOptions } from './options.ts'
import { DataFolderInUseError, type Platform, type PlatformHost, formatHostForUrl } from './platform.ts'
import { getRuntimesToStop } from './runtime/choose-runtime.ts'
import { createDockerDisk } from './runtime/docker/disk-usage.ts'
import { createChromiumScreenshotter } from './screenshots/chromium.ts'
import { createScreenshotService } from './screenshots/screenshot-service.ts'
import { createPlatformDomainVerifier } from './bootstrap/create-domain-verifier.ts'
import { startDomainSales } from './bootstrap/start-domain-sales.ts'
import { startBilling } from './bootstrap/start-billing.ts'
import { startEdge } from './bootstrap/start-edge.ts'
import { createPlatformApiServer } from './bootstrap/create-api-server.ts'
import { recordLastRequests } from './bootstrap/record-last-requests.ts'
import { createPlatformRemotes } from './bootstrap/create-remotes.ts'
import { startRuntimes } from './bootstrap/start-runtimes.ts'
import { createArchiveQuarantine } from './source/archive.ts'
import { trustHostCertificates } from './source/certificates.ts'
import { createSourceFetcher, watchRepository } from './source/index.ts'
import { lockDataFolder } from './store/data-folder-lock.ts'
import { openStore } from './store/store.ts'
import { createDataFolder } from './store/private-file.ts'
import { describeRecovery } from './store/recovery.ts'
import { listProjectIdsWithoutCaching } from './store/projects.ts'
import { createScreenshotStore } from './store/screenshot-store.ts'
import { createSealer } from './store/sealer.ts'
import { createMaintenanceScheduler } from './maintenance/scheduler.ts'
import { createDiskManager, usesDocker } from './maintenance/disk-usage.ts'
import { assertRestoreComplete } from './maintenance/restore/finish-restore.ts'

export type { DesktopFeed, DesktopUpdate, DesktopDeploymentResult, DesktopProject } from './features/desktop-feed.ts'
export { DataFolderInUseError, type Platform, type PlatformHost } from './platform.ts'

const signInLinkLifetime_ms = 24 * 3600_000

/** Starts a whole platform on a data folder and resolves once the platform is ready. Only this function chooses drivers and knows ports. */
export async function startPlatform(options: PlatformOptions, host: PlatformHost = {}): Promise<Platform> {
  const { data_dir } = options
  const log = host.log ?? silentLog
  const clock = host.clock ?? systemClock
  const cleanups: (() => unknown)[] = []
  const runCleanups = async () => {
    for (const close of cleanups.reverse().splice(0)) await close()
  }

  createDataFolder(data_dir)
  const previous = readInstanceFile(data_dir)
  const lock = lockDataFolder(data_dir)
  if (!lock) throw new DataFolderInUseError(data_dir, previous && isProcessAlive(previous.pid) ? previous : undefined)
  cleanups.push(() => lock.release())

  try {
    assertRestoreComplete(data_dir)
    const masterKey =
      host.masterKey ?? createFileMasterKey(options.master_key_file ?? join(data_dir, 'master.key'), { is_ours: options.master_key_file === null })
    const sealer = createSealer(await masterKey.read())
    // An orderly exit removes instance.json, so a file that is still present means that the previous run crashed.
    const store = host.store ?? (await openStore({ data_dir, after_crash: previous !== undefined, clock }))
    cleanups.push(() => store.close())
    if (store.recovery) log.error('recovered_from_backup', { ...store.recovery })
    const identity = await bootstrapInstance({ db: store.db, sealer, clock })
    const settings = createSettingsService(store.db, clock)
    const { events } = store

    const instanceId = identity.instance_id
    const { docker, runtimes, runtime } = await startRuntimes({ options, host, instance_id: instanceId, log, clock })
    const source = createSourceFetcher({ environment: await trustHostCertificates(options.environment, join(data_dir, 'cache')) })

    const archives = await createArchiveQuarantine(join(data_dir, 'quarantine'))

    let createdEngine: DeploymentService | undefined
    const edgeServices = await startEdge({
      options,
      host,
      store,
      sealer,
      settings,
      identity,
      clock,
      log,
      statusPageFor: (name) => createdEngine?.getStatusPage(name),
      wake: (route) => createdEngine?.wakeApp(route.project_id, route.deployment_id ?? ''),
    })
    const { edge, names: localHttps, metrics, urls } = edgeServices
    cleanups.push(() => edgeServices.close())
    const authenticator = createAuthenticator({ db: store.db, clock })

    const purge = createCachePurger({ db: store.db, cache: edge.cache, clock })
    for (const id of await store.db.read(listProjectIdsWithoutCaching)) edge.cache.setEnabled(id, false)

    const screenshots = createScreenshotService({
      store: createScreenshotStore(store.db),
      screenshotter: host.screenshotter ?? createChromiumScreenshotter(options),
      events,
      clock,
      log,
      data_dir,
      isEnabled: () => settings.current().screenshots,
      findRoute: (name) => edge.getRoute(name),
      getUrl: (name) => `http://${name}:${edgeServices.plain.port}/`,
      openEndpoint: async () => ({ host: '127.0.0.1', ...(await edge.listenOnNetwork({ address: '127.0.0.1', port: 0, is_probe: true })) }),
      probe_secret: edgeServices.probe_secret,
    })
    cleanups.push(() => screenshots.close())

    const dumps = await createDumpStore({ db: store.db, data_dir, clock, log })
    cleanups.push(() => dumps.close())
    const databases = createDatabaseService({
      db: store.db,
      sealer,
      events,
      clock,
      log,
      servers: createDatabaseServers({ engine: docker, data_dir, clock, log, environment: options.environment }),
      default_runtime: runtime.name,
      beforeDrop: async (opened) => void (await dumps.write(opened, 'drop')),
    })
    await databases.start()

    const maintenance = await createMaintenanceScheduler({
      data_dir,
      db: store.db,
      instance_id: instanceId,
      key_kind: masterKey.kind,
      sealer,
      clock,
      log,
      databases,
      restoreDatabase: databases.restoreDump,
      rebuild: ({ id, project_id }) => deployments.enqueue({ project_id, trigger: 'retry', source: { kind: 'same_as', deployment_id: id } }),
    })
    cleanups.push(() => maintenance.close())
    maintenance.jobs.add('retention', () => deployments.prune())
    const idempotencyStore = createIdempotencyStore({ db: store.db, sealer, clock })
    maintenance.jobs.add('kept_answers', idempotencyStore.deleteExpired)
    const billing = await startBilling({ stripe: options.stripe, store, settings, owner: identity.owner, rounds: maintenance.jobs, clock, log })

    const deployments = (createdEngine = createDeploymentService({
      store,
      edge,
      databases,
      runtimes,
      default_runtime: runtime.name,
      fetchSource: source.fetchSource,
      planBuild,
      explainFailure,
      sealer,
      events,
      clock,
      log,
      data_dir,
      settings: settings.current,
      purgeEdgeCache: async (projectId, name) => {
        const purged = name === undefined ? purge(projectId, { all: true }, 'deploy') : edge.cache.purgeHost(projectId, name)
        // A deploy does not wait for a failed disk removal, because the running edge no longer serves the purged entries.
        await purged.catch((error: unknown) => log.error('cache_not_purged', { project: projectId, error }))
      },
      getPlanLimits: (tx, account) => plans[effectivePlanOfAccount(tx, account, clock.now())],
      urlOf: (name) => `http://${name}:${edgeServices.plain.port}`,
      deleteScreenshots: screenshots.remove,
      dashboardUrlOf: (slug) => `${urls.dashboard}projects/${slug}`,
      cpus: options.cpus,
    }))
    const domainVerifier = createPlatformDomainVerifier({
      options,
      settings,
      db: store.db,
      clock,
      refreshHosts: deployments.refreshHosts,
      lan_addresses: host.lan_addresses,
    })
    maintenance.jobs.add('domains', domainVerifier.recheckDueDomains)
    const { platformIp } = domainVerifier
    const domainSalesDeps = { db: store.db, sealer, clock, log, rounds: maintenance.jobs, refreshHosts: deployments.refreshHosts }
    const domainSales = await startDomainSales({ options, settings, platformIp, ...domainSalesDeps })
    cleanups.push(() => domainSales.close())
    const watcher = createGitWatcher({
      store,
      events,
      clock,
      log,
      sealer,
      deployments,
      listBranches: source.listBranches,
      followRepository: watchRepository,
    })
    cleanups.push(() => watcher.close())

    let apiFellBack = false
    let lan: LanAccess | undefined
    const featureDeps: FeatureDeps = {
      store,
      deployments,
      watcher,
      databases,
      domainVerifier,
      domainSales,
      dumps,
      billing,
      sealer,
      clock,
      settings,
      cache: edge.cache,
      metrics,
      purge,
      edgeAddress: edgeServices.addressFor,
      instance: () => ({
        version,
        api_url: urls.api,
        edge_url: urls.edge,
        edge_https_url: urls.edge_https,
        dashboard_url: urls.dashboard,
        runtime,
        encryption: masterKey.kind,
        is_local: true,
      }),
      archives,
      screenshots,
      backups: maintenance.backups,
      ...createPlatformRemotes({ urls, options, sealer, encryption: masterKey.kind, lan: () => lan, authenticator, rounds: maintenance.jobs, clock }),
      mail: createEmailSender({ url: options.smtp_url, from: options.smtp_from, log }),
      disk: createDiskManager({
        data_dir,
        store,
        deployments,
        docker: createDockerDisk(docker, clock),
        usesDocker: usesDocker(store.db, runtimes.docker, clock),
        cache: edge.cache,
        clock,
        log,
      }),
      localHttps,
      lan: { status: () => lan?.status() ?? { open: false, warning: null, dashboard_urls: [], projects: [] }, refresh: async () => lan?.update() },
      describeFolder: (path) => source.describeFolder(path),
      isFolder: async (path) => (await stat(path).catch(() => undefined))?.isDirectory() ?? false,
      doctor: (isQuick) =>
        runDoctor({
          is_quick: isQuick,
          network: () => featureDeps.lan.status(),
          listAppPorts: () => deployments.findPublicPorts(),
          db: store.db,
          data_dir,
          runtimes: Object.values(runtimes),
          default_runtime: runtime.name,
          git: source.gitVersion,
          addresses: [
            { name: 'api', url: urls.api, fell_back: apiFellBack },
            { name: 'edge', url: urls.edge, fell_back: edgeServices.plain.fell_back },
          ],
          encryption: masterKey.kind,
          localHttps: localHttps.runChecks,
          backups: maintenance.backups.checks,
          databases: databases.checks,
          domainSales: domainSales.checks,
          screenshots: screenshots.check,
          window: options.window_note,
        }),
    }

    cleanups.push(() => featureDeps.mail.close())

    const apiServer = createPlatformApiServer({
      options,
      host,
      featureDeps,
      authenticator,
      identity,
      idempotencyStore,
      billing,
      purge,
      settings,
      runtime,
      lan: () => lan,
      store,
      clock,
      log,
    })
    cleanups.push(() => apiServer.close({ grace_ms: 2_000 }))
    const apiPort = await apiServer.listen({ host: options.host, port: options.port, fallback: options.port_may_change }).catch((cause: unknown) => {
      const reason = describeListenError(cause)
      throw reason === undefined ? cause : new Error(`Port ${options.port} is ${reason}. Choose another with --port, or 0 for any.`, { cause })
    })
    apiFellBack = options.port !== 0 && apiPort !== options.port
    urls.api = `http://${formatHostForUrl(options.host)}:${apiPort}`
    urls.dashboard = `${urls.api}/app/`

    await maintenance.restoreDatabases()
    await deployments.start()
    watcher.start()
    const restoreNotices = await maintenance.start()
    await screenshots.start()

    lan = createLanAccess({
      ...createLanDataSource(store.db, settings.current),
      addresses: host.lan_addresses,
      api: { host: options.host, port: apiPort, open: apiServer.listenOnNetwork },
      edge: { host: options.host, port: edgeServices.plain.port, open: edge.listenOnNetwork },
      clock,
      log,
    })
    await lan.update()
    cleanups.push(
      () => lan?.close(),
      events.subscribe((event) => event.type === 'project_changed' && lan?.scheduleUpdate()),
    )

    const desktopFeed = createDesktopFeed({ db: store.db, deployments, events, clock, log, owner: identity.owner })
    cleanups.push(() => desktopFeed.close())
    const lastRequests = recordLastRequests({ db: store.db, edge, clock, log })
    const signInUrl = async (): Promise<string> => {
      const { code } = await createSignInCode({ db: store.db, clock }, identity.owner.id, signInLinkLifetime_ms)
      return `${urls.api}/sign-in?code=${code}`
    }
    const instance: InstanceFile = {
      version,
      pid: process.pid,
      api_url: urls.api,
      edge_url: urls.edge,
      edge_https_url: urls.edge_https,
      dashboard_url: urls.dashboard,
      sign_in_url: await signInUrl(),
      token: identity.run_token,
      runtime: { name: runtime.name, version: runtime.version, reason: runtime.reason },
      started_at: isoTime(clock.now()),
    }
    writeInstanceFile(data_dir, instance)
    log.info('ready', { pid: process.pid, instance_id: instanceId, api_url: urls.api, edge_url: urls.edge, runtime: runtime.name })

    let stopping: Promise<void> | undefined
    const stop = async () => {
      lastRequests.close()
      await lan?.close()
      const apiServerClosed = apiServer.close({ grace_ms: 2_000 })
      const stopped = getRuntimesToStop(settings.current().on_exit)
      await watcher.close()
      await deployments.close(stopped)
      await databases.close(stopped)
      await apiServerClosed
      await runCleanups()
      removeInstanceFile(data_dir, process.pid)
    }

    return {
      instance,
      api_url: urls.api,
      edge_url: urls.edge,
      dashboard_url: urls.dashboard,
      version,
      notices: [
        ...(store.recovery ? [describeRecovery(store.recovery)] : []),
        ...restoreNotices,
        ...(apiFellBack ? [`Port ${options.port} is taken: the API is at ${urls.api} instead.`] : []),
        ...(lan.status().open && settings.current().lan ? [`This instance is reachable from your local network. ${lan.status().warning ?? ''}`] : []),
        ...edgeServices.notices,
      ],
      signInUrl,
      desktopFeed,
      resync() {
        deployments.resync()
        watcher.resync()
      },
      stop: () => (stopping ??= stop()),
    }
  } catch (error) {
    await runCleanups()
    throw error
  }
}
