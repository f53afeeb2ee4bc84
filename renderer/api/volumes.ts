import type { CallOutput } from '../../server/client/operation-types.ts'
import type { QueryClient } from '@tanstack/react-query'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCapabilities } from './capabilities.ts'
import { createMutationHook, invalidate } from './mutation.ts'
import { pollInterval_ms, useClient } from './query.ts'
import { queryKeys } from './query-keys.ts'
import { useUpload } from './use-upload.ts'

const environmentQuery = (branch: string | null) => (branch === null ? {} : { branch })

/** The volumes of an environment; null on an instance that does not support them (a hosted account). */
export function useVolumes(slug: string, branch: string | null) {
  const client = useClient()
  const { is_known, has_instance_api } = useCapabilities()
  return useQuery({
    queryKey: [...queryKeys.volumes(slug), branch],
    enabled: is_known,
    queryFn: async ({ signal }) =>
      has_instance_api ? (await client.call('listVolumes', { params: { slug }, query: environmentQuery(branch), signal })).volumes : null,
    // No event reports sizes, and a container engine measures all volumes at once.
    refetchInterval: 4 * pollInterval_ms,
  })
}

/** The current files in a folder of a volume. */
export function useVolumeFiles(slug: string, branch: string | null, name: string, path: string) {
  const client = useClient()
  return useQuery({
    queryKey: [...queryKeys.volumeFiles(slug), branch, name, path],
    queryFn: ({ signal }) =>
      client.call('listVolumeFiles', { params: { slug, name }, query: { ...environmentQuery(branch), ...(path !== '' && { path }) }, signal }),
  })
}

/** Files that the next deployment would lose; none on an instance that does not report them (a hosted account). */
export function useUnsavedFiles(slug: string) {
  const client = useClient()
  const { is_known, has_instance_api } = useCapabilities()
  return useQuery({
    queryKey: queryKeys.unsavedFiles(slug),
    enabled: is_known,
    queryFn: async ({ signal }) => (has_instance_api ? (await client.call('listUnsavedFiles', { params: { slug }, signal })).unsaved_files : []),
  })
}

const refresh = (cache: QueryClient, _: unknown, { params: { slug } }: { params: { slug: string } }): void =>
  invalidate(cache, queryKeys.volumes(slug), queryKeys.volumeFiles(slug), queryKeys.unsavedFiles(slug), queryKeys.latest(slug), queryKeys.disk)

export const useAddVolume = createMutationHook('addVolume', refresh)
export const useDetachVolume = createMutationHook('detachVolume', refresh)
export const useDeleteVolume = createMutationHook('deleteVolume', refresh)
export const useCreateVolumeSnapshot = createMutationHook('createVolumeSnapshot', refresh)
export const useRestoreVolume = createMutationHook('restoreVolume', refresh)
export const useDeleteVolumeSnapshot = createMutationHook('deleteVolumeSnapshot', refresh)
export const useDismissUnsavedFiles = createMutationHook('dismissUnsavedFiles', refresh)

/** Uploads an archive that replaces the files of a volume. */
export function useUploadVolume(slug: string, onDone: (answer: CallOutput<'uploadVolume'>) => void) {
  const cache = useQueryClient()
  return useUpload('uploadVolume', (answer) => {
    refresh(cache, answer, { params: { slug } })
    onDone(answer)
  })
}
