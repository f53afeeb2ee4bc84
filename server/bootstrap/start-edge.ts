import { hostname } from 'node:os'
import { join } from 'node:path'
import type { DeploymentService } from '../deployments/service.ts'
import { applyCapture } from '../features/capture-rules.ts'
import { createMetricsRecorder } from '../features/metrics-recorder.ts'
import { createMetricTotals } from '../features/metric-totals.ts'
import { createRequestRecorder } from '../features/request-recorder.ts'
import { toPublicName } from '../lib/apps-domain.ts'
import { newSecret } from '../lib/token.ts'
import { createLocalHttps } from '../tls/local-https-service.ts'
import { connectableHost, formatHostForUrl } from '../platform.ts'
import { createCertificateAuthorityStore } from '../store/certificate-authority.ts'
import { listLocalHostnames } from '../store/domains.ts'
import { listProjectIdsWithoutCaching } from '../store/projects.ts'
import { listRequestCaptures } from '../store/request-captures.ts'
import type { PlatformContext } from './context.ts'
import { createPublicNames } from './create-public-names.ts'
import { createPlatformEdge } from './create-edge.ts'

export type PlatformEdge = Awaited<ReturnType<typeof startEdge>>

/** Starts the edge with its cache and ports, the local hostnames that lead to it, and its metrics. */
export async function startEdge(context: PlatformContext) {
  const { options, host, data_dir, store, events, sealer, settings, identity, urls, clock, log, onClose } = context
  const displayedHost = formatHostForUrl(options.host)
  /** Set by `connect`, because sleeping, starting and deleted apps are known only to the deployment service. */
  let deployments: Pick<DeploymentService, 'getStatusPage' | 'wakeApp'> | undefined
  let httpsFellBack = false
  /** Hostnames in the store, and those of other services and of development servers, which exist as long as their route. */
  const listNames = async (): Promise<string[]> => {
    const routed = edge.listHosts().filter((name) => name.endsWith('.localhost'))
    return [...new Set([...(await store.db.read(listLocalHostnames)), ...routed.toSorted()])]
  }
  const localHttps = createLocalHttps({
    store: createCertificateAuthorityStore(store.db, sealer),
    clock,
    log,
    machine: hostname(),
    instance: identity.instance_id,
    names: listNames,
    isHostsFileEnabled: () => settings.current().hosts_file,
    https: () => ({ url: urls.edge_https, fell_back: httpsFellBack }),
    system: { ...options, ...host.names },
  })
  const probe_secret = newSecret()
  const publicNames = createPublicNames(context, () => edge)
  const { edge, workers } = await createPlatformEdge(options, {
    log,
    clock,
    probe_secret,
    resolveUnknownHost: (name) => deployments?.getStatusPage(name),
    wake: (route) => deployments?.wakeApp(route.project_id, route.deployment_id ?? ''),
    isMetricsEnabled: () => settings.current().metrics,
    isRequestLogEnabled: () => settings.current().request_log,
    private_cookie: identity.cookie_name,
    // Without a public certificate, that of the instance's own authority.
    getTlsCredentials: async (name) => (await publicNames.find(name)) ?? localHttps.identityFor(name),
    apps_domain: options.apps_domain,
    isHttpsRedirectEnabled: () => settings.current().https_redirect,
    cache: {
      directory: join(data_dir, 'cache', 'edge'),
      memory_bytes: () => settings.current().cache_memory_mb * 2 ** 20,
      disk_bytes: () => settings.current().cache_disk_mb * 2 ** 20,
    },
  })
  const unsubscribe = events.subscribe((event) => event.type === 'project_changed' && localHttps.scheduleHostsFileSync())
  localHttps.scheduleHostsFileSync()
  const metricTotals = createMetricTotals({ db: store.db, events })
  const metrics = createMetricsRecorder({ meter: edge.metrics, store: store.metrics, clock, log, onStored: metricTotals.addRequests })
  const requests = createRequestRecorder({ edge: edge.requests, store: store.requests, sealer, clock, log })

  const close = async () => {
    await publicNames.close()
    await edge.close({ grace_ms: 500 })
    await metrics.close()
    await requests.close()
    metricTotals.close()
    unsubscribe()
    await localHttps.close()
  }

  try {
    await publicNames.load()
    const plain = await edge.listen({ host: options.host, port: options.edge_port })
    if (plain.fell_back && !options.edge_port_may_change)
      throw new Error(`Port ${options.edge_port} for the edge is in use. Choose another with --edge-port, or 0 for any.`)
    const secure = await edge.listenSecure({ host: options.host, port: options.edge_https_port })
    if (secure.fell_back && !options.edge_https_port_may_change)
      throw new Error(`Port ${options.edge_https_port} for HTTPS is in use. Choose another with --edge-https-port, or 0 for any.`)
    httpsFellBack = secure.fell_back
    for (const id of await store.db.read(listProjectIdsWithoutCaching)) edge.cache.setEnabled(id, false)
    for (const row of await store.db.read((tx) => listRequestCaptures(tx, clock.now()))) applyCapture(edge.requests, row, clock.now())
    onClose(close)
    urls.edge = `http://${displayedHost}:${plain.port}`
    urls.edge_https = `https://${displayedHost}:${secure.port}`
    const apps = options.acme ? { scheme: 'https', port: secure.port, usual: 443 } : { scheme: 'http', port: plain.port, usual: 80 }
    const formatAppsUrl = (name: string) => `${apps.scheme}://${name}${apps.port === apps.usual ? '' : `:${apps.port}`}`
    urls.apps = options.apps_domain && formatAppsUrl(options.apps_domain)
    return {
      edge,
      workers,
      localHttps,
      publicNames,
      metrics,
      metricTotals,
      requests,
      probe_secret,
      plain,
      secure,
      /** The address of an app by its host name: below the apps domain, if there is one. */
      getAppUrl: (name: string) => {
        const publicName = toPublicName(name, options.apps_domain)
        return publicName === name ? `http://${name}:${plain.port}` : formatAppsUrl(publicName)
      },
      /** The address on this machine. */
      getLocalAppUrl: (name: string) => `http://${name}:${plain.port}`,
      /** Called once, when the deployment service exists. */
      connect(service: NonNullable<typeof deployments>) {
        deployments = service
      },
      /** The address for the platform's own requests to an app. HTTPS is used if plain HTTP is redirected to it. */
      addressFor(wantsHttps: boolean) {
        const is_secure = wantsHttps || settings.current().https_redirect
        return { host: connectableHost(options.host), port: (is_secure ? secure : plain).port, is_secure }
      },
      notices: [
        ...(plain.fell_back ? [`Port ${options.edge_port} is in use, so the edge is at ${urls.edge} instead.`] : []),
        ...(secure.fell_back ? [`Port ${options.edge_https_port} is in use, so HTTPS is at ${urls.edge_https} instead.`] : []),
      ],
    }
  } catch (error) {
    await close()
    throw error
  }
}
