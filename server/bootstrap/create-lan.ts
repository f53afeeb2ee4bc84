import { createLanDataSource } from '../features/lan.ts'
import { createLanAccess, type LanAccess, type LanOptions } from '../network/lan.ts'
import type { PlatformContext } from './context.ts'

export type PlatformLan = ReturnType<typeof createPlatformLan>

/** Access from the local network. It is closed until `start`, which needs the listeners of the API and the edge. */
export function createPlatformLan({ host, store, events, settings, clock, log, onClose }: PlatformContext) {
  let access: LanAccess | undefined
  return {
    status: () => access?.status() ?? { open: false, warning: null, dashboard_urls: [], projects: [] },
    hosts: () => access?.hosts() ?? [],
    refresh: async () => access?.update(),
    async start(listeners: Pick<LanOptions, 'api' | 'edge'>): Promise<void> {
      const started = createLanAccess({
        ...createLanDataSource(store.db, settings.current),
        ...listeners,
        addresses: host.lan_addresses,
        clock,
        log,
      })
      access = started
      await started.update()
      onClose(
        () => started.close(),
        events.subscribe((event) => event.type === 'project_changed' && started.scheduleUpdate()),
      )
    },
    close: async () => access?.close(),
  }
}
