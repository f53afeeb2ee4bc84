import type { DiskKind, DiskUsage } from '../contract/maintenance.ts'

const dataFolderNotes: Partial<Record<DiskKind, string>> = {
  build_cache: 'Dependencies and framework folders that make the next build quick. It is made again by the next one.',
  logs: 'Of builds and apps. What was freed in the file is given back by a clean-up.',
  bundles: 'Uploaded archives, copies of deployed folders, static sites and, without Docker, built apps. Those to keep stay.',
  screenshots: 'Pictures of what serves.',
  edge_cache: 'Stored answers of the apps. A clean-up empties it; the apps fill it again.',
  databases: 'The files of the PostgreSQL server. Never cleaned.',
  dumps: 'Copies of single databases. Never cleaned; delete them one by one.',
  backups: 'Never cleaned; delete them one by one.',
  ledger: 'The database of the instance itself. Never cleaned.',
  other: 'Versions of Node and package managers, uploads under way, certificates. Never cleaned.',
}

const engineNotes: Partial<Record<DiskKind, string>> = {
  images: 'Layers that several images share are counted once, base images of others not at all. Those to keep stay.',
  build_cache: 'Installed dependencies as images, where no app stands on them.',
  volumes: 'Caches of package managers, one per project. They are made again by the next build.',
  databases: 'The volume of the PostgreSQL server. Never cleaned.',
  other: 'What running apps have written into their containers. A clean-up frees containers that serve nothing.',
}

export const stillCountingNote = 'Still being counted: at least this much. Look again in a moment.'

export const findDiskNote = (kind: DiskKind, place: DiskUsage['place']): string | null =>
  (place === 'engine' ? engineNotes : dataFolderNotes)[kind] ?? null

export const formatSize = (bytes: number): string =>
  bytes < 1_000_000_000 ? `${(bytes / 1_000_000).toFixed(1)} MB` : `${(bytes / 1_000_000_000).toFixed(1)} GB`
