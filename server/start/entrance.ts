import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Page, Route } from '../edge/edge.ts'
import { createEdge } from '../edge/index.ts'
import type { Foundation } from '../features/found.ts'
import { createMetricsBook } from '../features/metrics-book.ts'
import type { SettingsBook } from '../features/settings.ts'
import type { Bus } from '../lib/bus.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { newSecret } from '../lib/token.ts'
import { createNames } from '../names/index.ts'
import type { PlatformOptions } from '../options.ts'
import { type PlatformHost, reachable, shownHost } from '../platform.ts'
import { createAuthorityStore } from '../store/authorities.ts'
import { listLocalNames } from '../store/domains.ts'
import type { Store } from '../store/open.ts'
import type { Sealer } from '../store/sealed.ts'

interface EntranceParts {
  options: PlatformOptions
  host: PlatformHost
  store: Store
  sealer: Sealer
  settings: SettingsBook
  foundation: Foundation
  bus: Bus
  clock: Clock
  log: Log
  /** The yard's, which is built behind the edge. */
  pageOf(name: string): Page | undefined
  wake(route: Route): void
}

/** Where visitors come in: the edge with its cache and its ports, the names that lead to it, and what is counted there. */
export async function openEntrance({ options, host, store, sealer, settings, foundation, bus, clock, log, pageOf, wake }: EntranceParts) {
  const { data_dir } = options
  const shown = shownHost(options.host)
  const urls = { api: '', edge: '', edge_https: null as string | null, dashboard: '' }
  let httpsFellBack = false
  const names = createNames({
    store: createAuthorityStore(store.db, sealer),
    clock,
    log,
    machine: hostname(),
    instance: foundation.instance_id,
    names: () => store.db.read(listLocalNames),
    isHostsFileWanted: () => settings.current().hosts_file,
    https: () => ({ url: urls.edge_https, fell_back: httpsFellBack }),
    place: { ...options, ...host.names },
  })
  const offBus = bus.onAny((name) => name.startsWith('project:') && names.nudge())
  names.nudge()

  const look_secret = newSecret()
  const edge = createEdge({
    log,
    clock,
    look_secret,
    unknown: pageOf,
    wake,
    metrics: () => settings.current().metrics,
    private_cookie: foundation.cookie_name,
    identityOf: names.identityFor,
    httpsOnly: () => settings.current().https_redirect,
    cache: {
      directory: join(data_dir, 'cache', 'edge'),
      memory_bytes: () => settings.current().cache_memory_mb * 2 ** 20,
      disk_bytes: () => settings.current().cache_disk_mb * 2 ** 20,
    },
  })
  const metrics = createMetricsBook({ meter: edge.meter, store: store.metrics, clock, log })

  const close = async () => {
    await edge.close({ grace_ms: 500 })
    await metrics.close()
    offBus()
    await names.close()
  }

  try {
    const plain = await edge.listen({ host: options.host, port: options.edge_port })
    if (plain.fell_back && !options.edge_port_may_move)
      throw new Error(`Port ${options.edge_port} for the edge is taken. Choose another with --edge-port, or 0 for any.`)
    const secure = await edge.listenSecure({ host: options.host, port: options.edge_https_port })
    if (secure.fell_back && !options.edge_https_port_may_move)
      throw new Error(`Port ${options.edge_https_port} for HTTPS is taken. Choose another with --edge-https-port, or 0 for any.`)
    httpsFellBack = secure.fell_back
    urls.edge = `http://${shown}:${plain.port}`
    urls.edge_https = `https://${shown}:${secure.port}`
    return {
      edge,
      names,
      metrics,
      look_secret,
      /** Those of the API follow when it listens. */
      urls,
      plain,
      secure,
      /** Where a request of our own goes; by HTTPS also where plain HTTP is sent on to it. */
      at(wantsHttps: boolean) {
        const is_secure = wantsHttps || settings.current().https_redirect
        return { host: reachable(options.host), port: (is_secure ? secure : plain).port, is_secure }
      },
      notices: [
        ...(plain.fell_back ? [`Port ${options.edge_port} is taken: the edge is at ${urls.edge} instead.`] : []),
        ...(secure.fell_back ? [`Port ${options.edge_https_port} is taken: HTTPS is at ${urls.edge_https} instead.`] : []),
      ],
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
