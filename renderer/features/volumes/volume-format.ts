import type { VolumeSnapshot } from '../../../server/contract/volumes.ts'

export const snapshotReasonLabels: Record<VolumeSnapshot['reason'], string> = {
  manual: 'Manual',
  before_restore: 'Before its files were replaced',
  before_delete: 'Before the volume was deleted',
  before_replace: 'Before an earlier version was replaced',
}

/** Such as `my-app-uploads-2026-11-21-0844.tar.gz`. */
export const volumeFilename = (slug: string, name: string, time: string): string =>
  `${slug}-${name}-${time.slice(0, 16).replace('T', '-').replace(':', '')}.tar.gz`

/** The page that lists a folder of a volume. */
export function volumeFilesPath(slug: string, branch: string | null, name: string, path = ''): string {
  const params = new URLSearchParams({ ...(branch !== null && { branch }), volume: name, ...(path !== '' && { path }) })
  return `/projects/${slug}/volumes?${params.toString()}`
}
