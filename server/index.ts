import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { explainFailure, planBuild } from './builder/index.ts'
import { version } from './contract/index.ts'
import { createDatabases } from './database/databases.ts'
import { createDumps } from './database/dumps.ts'
import { createDatabaseServers } from './database/index.ts'
import { createEngine, type Engine } from './deploy/engine.ts'
import { createWatcher } from './deploy/watch.ts'
import { createAuthenticator, newSignInCode } from './features/authenticate.ts'
import { examine } from './features/doctor.ts'
import { createDesk } from './features/desk.ts'
import { layFoundation } from './features/found.ts'
import type { FeatureDeps } from './features/index.ts'
import { createKeptAnswers } from './features/kept-answers.ts'
import { lanFacts } from './features/lan.ts'
import { plans } from './contract/plans.ts'
import { planOf } from './features/plans.ts'
import { createPurge } from './features/purge.ts'
import { createSettingsBook } from './features/settings.ts'
import { createFileKey } from './keys/file-key.ts'
import { createLan, type Lan } from './lan/lan.ts'
import { createBus } from './lib/bus.ts'
import { isoTime, systemClock } from './lib/clock.ts'
import { type InstanceFile, isProcessAlive, readInstanceFile, removeInstanceFile, writeInstanceFile } from './lib/instance-file.ts'
import { silentLog } from './lib/log.ts'
import { whyPortRefused } from './lib/port-refused.ts'
import { createMail } from './mail/smtp.ts'
import type { PlatformOptions } from './options.ts'
import { DataFolderTaken, type Platform, type PlatformHost, shownHost } from './platform.ts'
import { appsToStop } from './runtime/choose.ts'
import { createEngineDisk } from './runtime/docker-disk.ts'
import { createChromium } from './screenshot/chromium.ts'
import { createScreenshots } from './screenshot/index.ts'
import { openDomains } from './start/domains.ts'
import { openMarket } from './start/market.ts'
import { openBilling } from './start/billing.ts'
import { openEntrance } from './start/entrance.ts'
import { openGate } from './start/gate.ts'
import { keepLastRequests } from './start/last-requests.ts'
import { openRemotes } from './start/remotes.ts'
import { openRuntimes } from './start/runtimes.ts'
import { createArchives } from './source/archive.ts'
import { trustHostCertificates } from './source/certificates.ts'
import { createSource, followRepository } from './source/index.ts'
import { lockDataFolder } from './store/lock.ts'
import { openStore } from './store/open.ts'
import { makeDataFolder } from './store/private-file.ts'
import { tellRecovery } from './store/recover.ts'
import { listUncached } from './store/projects.ts'
import { createScreenshotStore } from './store/screenshots.ts'
import { createSealer } from './store/sealed.ts'
import { createCare } from './upkeep/care.ts'
import { createDisk, usesDocker } from './upkeep/disk.ts'
import { refuseHalfRestored } from './upkeep/homecoming.ts'

export type { Desk, DeskNews, DeploymentEnd, ProjectSeen } from './features/desk.ts'
export { DataFolderTaken, type Platform, type PlatformHost } from './platform.ts'

const signInLife_ms = 24 * 3600_000

/** Starts a whole platform on a data folder and resolves once it is ready. The one place that picks drivers and knows ports. */
export async function startPlatform(options: PlatformOptions, host: PlatformHost = {}): Promise<Platform> {
  const { data_dir } = options
  const log = host.log ?? silentLog
  const clock = host.clock ?? systemClock
  const closers: (() => unknown)[] = []
  const closeAll = async () => {
    for (const close of closers.reverse().splice(0)) await close()
  }

  makeDataFolder(data_dir)
  const previous = readInstanceFile(data_dir)
  const lock = lockDataFolder(data_dir)
  if (!lock) throw new DataFolderTaken(data_dir, previous && isProcessAlive(previous.pid) ? previous : undefined)
  closers.push(() => lock.release())

  try {
    refuseHalfRestored(data_dir)
    const masterKey =
      host.masterKey ?? createFileKey(options.master_key_file ?? join(data_dir, 'master.key'), { is_ours: options.master_key_file === null })
    const sealer = createSealer(await masterKey.read())
    // The file goes at an orderly exit: where it stands, the last run was cut off.
    const store = host.store ?? (await openStore({ data_dir, after_crash: previous !== undefined, clock }))
    closers.push(() => store.close())
    if (store.recovered) log.error('recovered_from_backup', { ...store.recovered })
    const foundation = await layFoundation({ db: store.db, sealer, clock })
    const settings = createSettingsBook(store.db, clock)
    const bus = createBus()

    const instanceId = foundation.instance_id
    const { docker, runtimes, runtime } = await openRuntimes({ options, host, instance_id: instanceId, log, clock })
    const source = createSource({ environment: await trustHostCertificates(options.environment, join(data_dir, 'cache')) })

    const archives = await createArchives(join(data_dir, 'quarantine'))

    let built: Engine | undefined
    const entrance = await openEntrance({
      options,
      host,
      store,
      sealer,
      settings,
      foundation,
      bus,
      clock,
      log,
      pageOf: (name) => built?.pageOf(name),
      wake: (route) => built?.wake(route.project_id, route.deployment_id ?? ''),
    })
    const { edge, names, metrics, urls } = entrance
    closers.push(() => entrance.close())
    const authenticator = createAuthenticator({ db: store.db, clock })

    const purge = createPurge({ db: store.db, cache: edge.cache, clock, bus })
    for (const id of await store.db.read(listUncached)) edge.cache.setEnabled(id, false)

    const screenshots = createScreenshots({
      store: createScreenshotStore(store.db),
      screenshotter: host.screenshotter ?? createChromium(options),
      bus,
      clock,
      log,
      data_dir,
      isWanted: () => settings.current().screenshots,
      routeOf: (name) => edge.route(name),
      urlOf: (name) => `http://${name}:${entrance.plain.port}/`,
      openDoor: async () => ({ host: '127.0.0.1', ...(await edge.open({ address: '127.0.0.1', port: 0, is_look: true })) }),
      look_secret: entrance.look_secret,
    })
    closers.push(() => screenshots.close())

    const dumps = await createDumps({ db: store.db, data_dir, clock, log })
    closers.push(() => dumps.close())
    const databases = createDatabases({
      db: store.db,
      sealer,
      bus,
      clock,
      log,
      servers: createDatabaseServers({ engine: docker, data_dir, clock, log, environment: options.environment }),
      default_runtime: runtime.name,
      beforeDrop: async (opened) => void (await dumps.write(opened, 'drop')),
    })
    await databases.start()

    const care = await createCare({
      data_dir,
      db: store.db,
      instance_id: instanceId,
      key_kind: masterKey.kind,
      sealer,
      clock,
      log,
      databases,
      putBack: databases.putBack,
      rebuild: ({ id, project_id }) => engine.enqueue({ project_id, trigger: 'retry', source: { kind: 'same_as', deployment_id: id } }),
    })
    closers.push(() => care.close())
    care.rounds.add('retention', () => engine.prune())
    const keptAnswers = createKeptAnswers({ db: store.db, sealer, clock })
    care.rounds.add('kept_answers', keptAnswers.sweep)
    const billing = await openBilling({ stripe: options.stripe, store, settings, owner: foundation.owner, rounds: care.rounds, bus, clock, log })

    const engine = (built = createEngine({
      store,
      edge,
      databases,
      runtimes,
      default_runtime: runtime.name,
      fetchSource: source.fetchSource,
      planBuild,
      explainFailure,
      sealer,
      bus,
      clock,
      log,
      data_dir,
      settings: settings.current,
      purgeOnSwap: async (projectId, name) => {
        const purged = name === undefined ? purge(projectId, { all: true }, 'deploy') : edge.cache.purgeName(projectId, name)
        // What a disk could not let go of is not served by this run all the same; a new version does not wait for it.
        await purged.catch((error: unknown) => log.error('cache_not_purged', { project: projectId, error }))
      },
      planOf: (tx, account) => plans[planOf(tx, account, clock.now())],
      urlOf: (name) => `http://${name}:${entrance.plain.port}`,
      forgetScreenshots: screenshots.forget,
      dashboardUrlOf: (slug) => `${urls.dashboard}projects/${slug}`,
      cpus: options.cpus,
    }))
    const domains = openDomains({ options, settings, db: store.db, bus, clock, refreshHosts: engine.refreshHosts, lan_addresses: host.lan_addresses })
    care.rounds.add('domains', domains.round)
    const { platformIp } = domains
    const forMarket = { db: store.db, sealer, bus, clock, log, rounds: care.rounds, refreshHosts: engine.refreshHosts }
    const market = await openMarket({ options, settings, platformIp, ...forMarket })
    closers.push(() => market.close())
    const watcher = createWatcher({ store, bus, clock, log, sealer, engine, listBranches: source.listBranches, followRepository })
    closers.push(() => watcher.close())

    let apiFellBack = false
    let lan: Lan | undefined
    const features: FeatureDeps = {
      store,
      engine,
      watcher,
      databases,
      domains,
      market,
      dumps,
      billing,
      sealer,
      bus,
      clock,
      settings,
      cache: edge.cache,
      metrics,
      purge,
      edgeAt: entrance.at,
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
      backups: care.backups,
      ...openRemotes({ urls, options, sealer, encryption: masterKey.kind, lan: () => lan, authenticator, rounds: care.rounds, clock }),
      mail: createMail({ url: options.smtp_url, from: options.smtp_from, log }),
      disk: createDisk({
        data_dir,
        store,
        engine,
        docker: createEngineDisk(docker, clock),
        usesDocker: usesDocker(store.db, runtimes.docker, clock),
        cache: edge.cache,
        clock,
        log,
      }),
      names,
      lan: { status: () => lan?.status() ?? { open: false, warning: null, dashboard_urls: [], projects: [] }, look: async () => lan?.look() },
      describeFolder: (path) => source.describeFolder(path),
      isFolder: (path) =>
        stat(path).then(
          (found) => found.isDirectory(),
          () => false,
        ),
      doctor: (isQuick) =>
        examine({
          is_quick: isQuick,
          network: () => features.lan.status(),
          listening: () => engine.listening(),
          db: store.db,
          data_dir,
          runtimes: Object.values(runtimes),
          chosen: runtime.name,
          git: source.gitVersion,
          addresses: [
            { name: 'api', url: urls.api, fell_back: apiFellBack },
            { name: 'edge', url: urls.edge, fell_back: entrance.plain.fell_back },
          ],
          encryption: masterKey.kind,
          names: names.checks,
          backups: care.backups.checks,
          databases: databases.checks,
          market: market.checks,
          screenshots: screenshots.check,
          window: options.window_note,
        }),
    }

    closers.push(() => features.mail.close())

    const gate = openGate({
      options,
      host,
      features,
      authenticator,
      foundation,
      keptAnswers,
      billing,
      purge,
      settings,
      runtime,
      lan: () => lan,
      store,
      clock,
      log,
    })
    closers.push(() => gate.close({ grace_ms: 2_000 }))
    const apiPort = await gate.listen({ host: options.host, port: options.port, fallback: options.port_may_move }).catch((cause: unknown) => {
      const reason = whyPortRefused(cause)
      throw reason === undefined ? cause : new Error(`Port ${options.port} is ${reason}. Choose another with --port, or 0 for any.`, { cause })
    })
    apiFellBack = options.port !== 0 && apiPort !== options.port
    urls.api = `http://${shownHost(options.host)}:${apiPort}`
    urls.dashboard = `${urls.api}/app/`

    await care.putDatabasesBack()
    await engine.start()
    watcher.start()
    const homecoming = await care.start()
    await screenshots.start()

    lan = createLan({
      ...lanFacts(store.db, settings.current),
      addresses: host.lan_addresses,
      api: { host: options.host, port: apiPort, open: gate.open },
      edge: { host: options.host, port: entrance.plain.port, open: edge.open },
      clock,
      log,
    })
    await lan.look()
    closers.push(
      () => lan?.close(),
      bus.onAny((name) => name.startsWith('project:') && lan?.nudge()),
    )

    const desk = createDesk({ db: store.db, engine, bus, clock, log, owner: foundation.owner })
    closers.push(() => desk.close())
    const noteRequests = keepLastRequests({ db: store.db, edge, clock, log, onVisits: () => bus.emit('visits') })
    const signInUrl = async (): Promise<string> => {
      const { code } = await newSignInCode({ db: store.db, clock }, foundation.owner.id, signInLife_ms)
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
      token: foundation.run_token,
      runtime: { name: runtime.name, version: runtime.version, reason: runtime.reason },
      started_at: isoTime(clock.now()),
    }
    writeInstanceFile(data_dir, instance)
    log.info('ready', { pid: process.pid, instance_id: instanceId, api_url: urls.api, edge_url: urls.edge, runtime: runtime.name })

    let ending: Promise<void> | undefined
    const stop = async () => {
      noteRequests.close()
      await lan?.close()
      const gateClosed = gate.close({ grace_ms: 2_000 })
      const stopped = appsToStop(settings.current().on_exit)
      await watcher.close()
      await engine.close(stopped)
      await databases.close(stopped)
      await gateClosed
      await closeAll()
      removeInstanceFile(data_dir, process.pid)
    }

    return {
      instance,
      api_url: urls.api,
      edge_url: urls.edge,
      dashboard_url: urls.dashboard,
      version,
      notices: [
        ...(store.recovered ? [tellRecovery(store.recovered)] : []),
        ...homecoming,
        ...(apiFellBack ? [`Port ${options.port} is taken: the API is at ${urls.api} instead.`] : []),
        ...(lan.status().open && settings.current().lan ? [`The network around this machine is let in. ${lan.status().warning ?? ''}`] : []),
        ...entrance.notices,
      ],
      signInUrl,
      desk,
      resync() {
        engine.resync()
        watcher.resync()
      },
      stop: () => (ending ??= stop()),
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}
