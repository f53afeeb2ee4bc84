import type { DiskUsage } from '../../server/contract/maintenance.ts'
import { findDiskNote } from '../../server/maintenance/disk-notes.ts'
import type { Screen } from './screen.ts'
import { waitForDialog } from './screen-actions.ts'

const unknownApps: DiskUsage = {
  kind: 'unknown_apps',
  location: 'engine',
  bytes: 0,
  count: 2,
  reclaimable_bytes: null,
  note: findDiskNote('unknown_apps', 'engine'),
}

export const diskScreens: Screen[] = [
  { name: 'disk', path: 'instance/disk' },
  {
    name: 'disk-unknown-apps',
    path: 'instance/disk',
    before: (page) =>
      page.route(
        (url) => url.pathname === '/instance/disk',
        async (route) => {
          const disk = (await (await route.fetch()).json()) as { kinds: DiskUsage[] }
          await route.fulfill({ json: { ...disk, kinds: [...disk.kinds, unknownApps] } })
        },
      ),
    act: (page) => page.getByText('Unknown apps', { exact: true }).scrollIntoViewIfNeeded(),
  },
  { name: 'disk-clean', path: 'instance/disk?do=clean', act: waitForDialog },
]
