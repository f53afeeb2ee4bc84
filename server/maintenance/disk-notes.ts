import type { DiskKind, DiskUsage } from '../contract/maintenance.ts'

const dataFolderNotes: Partial<Record<DiskKind, string>> = {
  build_cache: 'Dependencies and framework caches that speed up builds. The next build creates them again.',
  logs: 'Logs of builds and apps. A cleanup returns free space in the file to the disk.',
  bundles: 'Uploaded archives, copies of deployed folders, static sites and, without Docker, built apps. Retained deployments are kept.',
  screenshots: 'Screenshots of live deployments.',
  edge_cache: 'Cached responses of apps. A cleanup empties the cache; new requests fill it again.',
  databases: 'The files of the PostgreSQL server. Never cleaned up.',
  dumps: 'Dumps of single databases. Never cleaned up; delete them individually.',
  app_volumes: 'Volumes of projects that run as processes. Never cleaned up.',
  volume_snapshots: 'Never cleaned up; delete them individually on the Services page of a project.',
  backups: 'Never cleaned up; delete them individually.',
  instance_database: 'The database of this instance. Never cleaned up.',
  other: 'Versions of Node and package managers, uploads in progress, certificates. Never cleaned up.',
}

const engineNotes: Partial<Record<DiskKind, string>> = {
  images: 'Layers that several images share are counted once, and base images are not counted. Retained deployments are kept.',
  build_cache: 'Images with installed dependencies that no app uses.',
  volumes: 'Caches of package managers, one per project. The next build creates them again.',
  app_volumes: 'Volumes of projects that run in containers, and of managed services. Never cleaned up.',
  databases: 'The volume of the PostgreSQL server. Never cleaned up.',
  unknown_apps: 'Apps that run without traffic, because the database, an older copy, does not know their deployments. A cleanup stops them.',
  other: 'Files that apps have written in their containers. A cleanup removes containers that are not live.',
}

export const stillCountingNote = 'Still calculating: at least this much. Check again in a moment.'

export const findDiskNote = (kind: DiskKind, location: DiskUsage['location']): string | null =>
  (location === 'engine' ? engineNotes : dataFolderNotes)[kind] ?? null

export const formatSize = (bytes: number): string =>
  bytes < 1_000_000_000 ? `${(bytes / 1_000_000).toFixed(1)} MB` : `${(bytes / 1_000_000_000).toFixed(1)} GB`
