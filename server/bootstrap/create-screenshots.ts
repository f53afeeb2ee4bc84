import { createChromiumScreenshotter } from '../screenshots/chromium.ts'
import { createScreenshotService } from '../screenshots/screenshot-service.ts'
import { createScreenshotStore } from '../store/screenshot-store.ts'
import type { PlatformContext } from './context.ts'
import type { PlatformEdge } from './start-edge.ts'

/** Creates the service that takes screenshots. Its requests reach an app through a separate endpoint, so they are not counted. */
export function createPlatformScreenshots(context: PlatformContext, { edge, getLocalAppUrl, probe_secret }: PlatformEdge) {
  const { options, host, data_dir, store, events, settings, clock, log, onClose } = context
  const screenshots = createScreenshotService({
    store: createScreenshotStore(store.db),
    screenshotter: host.screenshotter ?? createChromiumScreenshotter(options),
    events,
    clock,
    log,
    data_dir,
    isEnabled: () => settings.current().screenshots,
    findRoute: (name) => edge.getRoute(name),
    getUrl: (name) => `${getLocalAppUrl(name)}/`,
    openEndpoint: async () => ({ host: '127.0.0.1', ...(await edge.listenOnNetwork({ address: '127.0.0.1', port: 0, is_probe: true })) }),
    probe_secret,
  })
  onClose(() => screenshots.close())
  return screenshots
}
