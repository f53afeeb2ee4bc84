import type { CleanableKind, DiskKind, DiskUsage } from '../../../server/contract/maintenance.ts'

/** What each kind is called, and what it is for. */
export const diskKinds: Record<DiskKind, { name: string; about: string }> = {
  images: { name: 'Images', about: 'What containers run from, and can be rolled back to.' },
  build_cache: { name: 'Build cache', about: 'Lets the next build skip what has not changed.' },
  volumes: { name: 'Build volumes', about: 'What package managers downloaded, inside the engine.' },
  logs: { name: 'Logs', about: 'Of builds and of running apps.' },
  bundles: { name: 'Bundles and archives', about: 'Built apps, static files and uploads, for running and rolling back.' },
  screenshots: { name: 'Screenshots', about: 'Pictures of what was deployed.' },
  edge_cache: { name: 'Edge cache', about: 'Answers of apps, kept to be quick.' },
  metrics: { name: 'Metrics', about: 'Thirty days of figures.' },
  databases: { name: 'Databases', about: 'PostgreSQL, with the data of your apps.' },
  dumps: { name: 'Database dumps', about: 'Made by hand, and before a drop or a restore.' },
  backups: { name: 'Backups', about: 'Of the whole instance, and hourly copies of its ledger.' },
  ledger: { name: 'Ledger', about: 'What Homeport itself remembers.' },
  other: { name: 'Other', about: 'Work under way, and what was left by what did not end well.' },
}

/** What a clean-up takes, in words for who is about to do it. */
export const cleanUpEffects: Record<CleanableKind, string> = {
  images: 'Images that nothing runs from and that are past what is kept for roll-back.',
  build_cache: 'The next build of each project takes longer, once.',
  volumes: 'Downloaded packages are fetched again by the next build.',
  logs: 'Logs of deployments that are gone.',
  bundles: 'Bundles and archives past what is kept for roll-back.',
  screenshots: 'Pictures of deployments that no longer serve.',
  edge_cache: 'Every answer is asked of the apps again, which is slower for a while.',
  other: 'Leftovers of what did not end well. Never work under way.',
}

/** What is cleaned when nothing is named: all but the edge cache, which visitors would feel. */
export const safeKinds: readonly CleanableKind[] = ['images', 'build_cache', 'volumes', 'bundles', 'logs', 'screenshots', 'other']

export function isCleanable(kind: DiskKind): kind is CleanableKind {
  return kind in cleanUpEffects
}

/** What a clean-up of these kinds would free, and whether some of them cannot tell beforehand. */
export function reclaimableSpace(rows: readonly DiskUsage[], chosen: readonly DiskKind[]): { bytes: number; is_certain: boolean } {
  const parts = rows.filter(({ kind }) => chosen.includes(kind)).map(({ reclaimable_bytes }) => reclaimable_bytes)
  return { bytes: parts.reduce<number>((sum, part) => sum + (part ?? 0), 0), is_certain: !parts.includes(null) }
}

export interface DiskUsagePart {
  name: string
  bytes: number
}

const maxParts = 5

/** The largest kinds, and the rest as one, for a bar: what lies in two places is one part. */
export function largestParts(rows: readonly DiskUsage[]): DiskUsagePart[] {
  const sums = new Map<DiskKind, number>()
  for (const { kind, bytes } of rows) sums.set(kind, (sums.get(kind) ?? 0) + bytes)
  const parts = [...sums]
    .filter(([, bytes]) => bytes > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([kind, bytes]) => ({ name: diskKinds[kind].name, bytes }))
  if (parts.length <= maxParts + 1) return parts
  return [...parts.slice(0, maxParts), { name: 'The rest', bytes: parts.slice(maxParts).reduce((sum, part) => sum + part.bytes, 0) }]
}

const freeSpaceThresholds_bytes = { low: 5e9, nearly_none: 1e9 }

/** Whether there is room for more: a build or two takes a few hundred megabytes. */
export function freeSpaceLevel(freeBytes: number): 'enough' | 'low' | 'nearly_none' {
  return freeBytes < freeSpaceThresholds_bytes.nearly_none ? 'nearly_none' : freeBytes < freeSpaceThresholds_bytes.low ? 'low' : 'enough'
}
