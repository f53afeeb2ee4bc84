import type { CleanableKind, DiskKind, DiskUsage } from '../../../server/contract/maintenance.ts'

/** Name and description of each kind. */
export const diskKinds: Record<DiskKind, { name: string; about: string }> = {
  images: { name: 'Images', about: 'Images of running containers and of rollback candidates.' },
  build_cache: { name: 'Build cache', about: 'Lets builds skip unchanged steps.' },
  volumes: { name: 'Build volumes', about: 'Package manager caches inside the container engine.' },
  logs: { name: 'Logs', about: 'Build and runtime logs.' },
  bundles: { name: 'Bundles and archives', about: 'Built apps, static files and uploads of live deployments and rollback candidates.' },
  screenshots: { name: 'Screenshots', about: 'Screenshots of deployments.' },
  edge_cache: { name: 'Edge cache', about: 'Cached responses of apps.' },
  metrics: { name: 'Metrics', about: '30 days of metrics.' },
  databases: { name: 'Databases', about: 'PostgreSQL data of your apps.' },
  dumps: { name: 'Database dumps', about: 'Manual dumps, and those created before a drop or a restore.' },
  app_volumes: { name: 'Volumes', about: 'Files that apps keep across deployments.' },
  volume_snapshots: { name: 'Volume snapshots', about: 'Manual snapshots, and those taken before a restore or a deletion.' },
  backups: { name: 'Backups', about: 'Backups of the whole instance and hourly copies of the platform database.' },
  instance_database: { name: 'Platform database', about: 'Projects, deployments and settings.' },
  unknown_apps: { name: 'Unknown apps', about: 'Apps whose deployments the platform database does not know.' },
  other: { name: 'Other', about: 'Work in progress and leftovers of interrupted work.' },
}

/** What a cleanup of each kind deletes. */
export const cleanUpEffects: Record<CleanableKind, string> = {
  images: 'Images that are not in use and not needed for a rollback.',
  build_cache: 'The next build of each project takes longer.',
  volumes: 'The next build downloads packages again.',
  logs: 'Logs of deleted deployments.',
  bundles: 'Bundles and archives that are not needed for a rollback.',
  screenshots: 'Screenshots of deployments that are no longer live.',
  edge_cache: 'Responses are slower until the cache fills again.',
  unknown_apps: 'They stop. Deploy first what should be live.',
  other: 'Leftovers of interrupted work. Work in progress is kept.',
}

/** Default selection of a cleanup: without the edge cache, whose loss slows responses, and apps that may be missed. */
export const safeKinds: readonly CleanableKind[] = ['images', 'build_cache', 'volumes', 'bundles', 'logs', 'screenshots', 'other']

export function isCleanable(kind: DiskKind): kind is CleanableKind {
  return kind in cleanUpEffects
}

/** How much a cleanup of these kinds frees, and whether the amount is exact. */
export function reclaimableSpace(rows: readonly DiskUsage[], chosen: readonly DiskKind[]): { bytes: number; is_certain: boolean } {
  const parts = rows.filter(({ kind }) => chosen.includes(kind)).map(({ reclaimable_bytes }) => reclaimable_bytes)
  return { bytes: parts.reduce<number>((sum, part) => sum + (part ?? 0), 0), is_certain: !parts.includes(null) }
}

export interface DiskUsagePart {
  name: string
  bytes: number
}

const maxParts = 5

/** The largest kinds, with the others combined, for a stacked bar. A kind in several places is one part. */
export function largestParts(rows: readonly DiskUsage[]): DiskUsagePart[] {
  const sums = new Map<DiskKind, number>()
  for (const { kind, bytes } of rows) sums.set(kind, (sums.get(kind) ?? 0) + bytes)
  const parts = [...sums]
    .filter(([, bytes]) => bytes > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([kind, bytes]) => ({ name: diskKinds[kind].name, bytes }))
  if (parts.length <= maxParts + 1) return parts
  return [...parts.slice(0, maxParts), { name: 'Other', bytes: parts.slice(maxParts).reduce((sum, part) => sum + part.bytes, 0) }]
}

const freeSpaceThresholds_bytes = { low: 5e9, nearly_none: 1e9 }

/** Thresholds for low disk space: a build needs a few hundred megabytes. */
export function freeSpaceLevel(freeBytes: number): 'enough' | 'low' | 'nearly_none' {
  return freeBytes < freeSpaceThresholds_bytes.nearly_none ? 'nearly_none' : freeBytes < freeSpaceThresholds_bytes.low ? 'low' : 'enough'
}
