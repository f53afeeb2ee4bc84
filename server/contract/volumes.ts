import { z } from 'zod'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { dateTime, empty, projectParams } from './shared.ts'
import { mountPathPattern } from './volume-paths.ts'

export const volumeSnapshot = z.object({
  id: z.string(),
  bytes: z.number().int().describe('Compressed; where the file system shares blocks, the size of the files.'),
  reason: z
    .enum(['manual', 'before_restore', 'before_delete', 'before_replace'])
    .describe('`before_replace`: files outside of a volume, before the version that wrote them was replaced.'),
  created_at: dateTime,
})
export type VolumeSnapshot = z.output<typeof volumeSnapshot>

export const volume = z.object({
  name: z.string(),
  size_bytes: z.number().int().nullable().describe('Null when the runtime does not know it.'),
  used_by: z
    .array(z.object({ service: z.string(), path: z.string(), is_read_only: z.boolean() }))
    .describe('Empty when the live version no longer has it.'),
  snapshots: z.array(volumeSnapshot).describe('Newest first.'),
  added: z
    .object({ service: z.string().nullable().describe('Null for the service that has the project’s address.'), path: z.string() })
    .nullable()
    .describe('Where the project has it without a configuration file; null when a file declares it, or when it was detached.'),
})
export type Volume = z.output<typeof volume>

export const volumeEntry = z.object({
  name: z.string(),
  kind: z.enum(['file', 'folder', 'link', 'other']),
  size_bytes: z.number().int().nullable().describe('Of a file; null for others, and when the runtime does not know it.'),
  modified_at: dateTime.nullable(),
})
export type VolumeEntry = z.output<typeof volumeEntry>

/** Whether each segment is a plain name, so that a path stays in its volume. */
const isPathOfNames = (path: string): boolean => path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..')
const volumePath = z
  .string()
  .max(limits.volume_path)
  .refine(
    (path) => !path.includes('\0') && isPathOfNames(path),
    'Write the path from the volume’s own folder, such as photos/2026, without “.” and “..”.',
  )

/** Where a volume is mounted in a service: absolute, or relative to the app's folder. */
const mountPath = z
  .string()
  .max(limits.mount_path)
  .regex(mountPathPattern, 'Write a path without colons, backslashes and control characters, such as /app/uploads.')

const branch = z.string().min(limits.branch.min).max(limits.branch.max).optional().describe('The preview of this branch instead of production.')
const volumeParams = projectParams.extend({ name: z.string() })

/** Instance-only operations. */
export const volumeOperations = {
  listVolumes: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/volumes',
    resource: 'project',
    group: 'Instance',
    summary: 'List the volumes of an environment with their snapshots',
    access: 'caller',
    params: projectParams,
    query: z.object({ branch }),
    success: { status: 200, json: z.object({ volumes: z.array(volume) }) },
    errors: ['invalid_input', 'project_not_found'],
  }),
  addVolume: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/volumes',
    resource: 'project',
    group: 'Instance',
    summary: 'Keep the files at a path in a volume',
    description:
      'For a path that no configuration file declares. Every later version has the volume there; a deployed project is redeployed. The volume starts with the files that the live version has at the path, and requests wait during the copy. Each preview has its own volume. For a path that ends with the name of an SQLite file (.db, .sqlite), only that file is kept. A volume that was detached from the path is used again.',
    access: 'caller',
    scope: 'deploy',
    params: projectParams,
    query: empty,
    body: z.strictObject({
      path: mountPath.describe('Such as `uploads` or `/app/uploads`: relative to the app’s folder, which is `/app`.'),
      service: z.string().max(limits.mount_path).optional().describe('Without it the service that has the project’s address.'),
      with_unsaved_files: z
        .boolean()
        .optional()
        .describe('Also keeps all other paths that are reported as unsaved files, which this deployment would lose.'),
      snapshot_id: z
        .string()
        .optional()
        .describe('A snapshot that a new volume starts with, instead of the files of the live version: one of unsaved files of an earlier version.'),
    }),
    success: { status: 200, json: z.object({ volume: z.string().describe('Its name.'), path: z.string(), deployment_id: z.string().nullable() }) },
    errors: ['invalid_input', 'project_not_found', 'service_not_found', 'snapshot_not_found', 'volume_in_use', 'runtime_not_isolated'],
  }),
  detachVolume: operation({
    method: 'DELETE',
    path: '/instance/projects/{slug}/volumes/{name}/mount',
    resource: 'project',
    group: 'Instance',
    summary: 'Detach a volume that was added to the project',
    description: 'A deployed project is redeployed without it. Its files are kept until it is deleted.',
    access: 'caller',
    params: volumeParams,
    query: empty,
    success: { status: 200, json: z.object({ deployment_id: z.string().nullable() }) },
    errors: ['invalid_input', 'project_not_found', 'volume_not_found', 'runtime_not_isolated'],
  }),
  createVolumeSnapshot: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/volumes/{name}/snapshots',
    resource: 'project',
    group: 'Instance',
    summary: 'Take a snapshot of a volume',
    description:
      'The environment is frozen while its files are read, so that the snapshot is consistent. Snapshots are deleted with the environment.',
    access: 'caller',
    scope: 'deploy',
    params: volumeParams,
    query: z.object({ branch }),
    success: { status: 201, json: z.object({ snapshot: volumeSnapshot }) },
    errors: ['invalid_input', 'project_not_found', 'volume_not_found'],
  }),
  restoreVolume: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/volumes/{name}/restore',
    resource: 'project',
    group: 'Instance',
    summary: 'Restore a volume from a snapshot',
    description:
      'Stops the environment, takes a snapshot of the current files, replaces them, and starts the environment again; requests wait. If the restore fails, the current files are kept.',
    access: 'caller',
    params: volumeParams,
    query: z.object({ branch }),
    body: z.strictObject({ snapshot_id: z.string() }),
    is_slow: true,
    success: {
      status: 200,
      json: z.object({ before: volumeSnapshot.nullable().describe('The files that were replaced; null when the volume did not exist.') }),
    },
    errors: ['invalid_input', 'project_not_found', 'volume_not_found', 'snapshot_not_found'],
  }),
  downloadVolume: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/volumes/{name}/download.tar.gz',
    resource: 'project',
    group: 'Instance',
    summary: 'Download a snapshot of a volume',
    description: 'Without `snapshot`: the current files, as of a single point in time.',
    access: 'caller',
    scope: 'admin',
    params: volumeParams,
    query: z.object({ branch, snapshot: z.string().optional() }),
    is_slow: true,
    success: { status: 200, content_type: 'application/gzip', is_stream: true },
    errors: ['invalid_input', 'project_not_found', 'volume_not_found', 'snapshot_not_found'],
  }),
  uploadVolume: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/volumes/{name}/upload',
    resource: 'project',
    group: 'Instance',
    summary: 'Replace the files of a volume with those of an archive',
    description:
      'A .tar.gz, such as a downloaded volume, or a .zip. The archive is checked completely first: it may contain files, folders, and links that stay in it. Then the environment is stopped, a snapshot of the current files is taken, they are replaced, and the environment is started again; requests wait. On failure, the current files are kept. Files keep the owners of the archive if it has an entry for the folder itself, as a download has; otherwise they get the owner of the volume’s folder.',
    access: 'caller',
    params: volumeParams,
    query: z.object({
      branch,
      only_if_empty: z
        .enum(['true', 'false'])
        .optional()
        .describe('`true`: a volume with files is not changed, and the response is `volume_not_empty`.'),
      create: z
        .enum(['true', 'false'])
        .optional()
        .describe('`true`: the volume may not exist yet. A version that declares it starts with these files.'),
    }),
    upload: {
      types: ['application/gzip', 'application/zip', 'application/x-gzip', 'application/x-zip-compressed', 'application/octet-stream'],
      max_bytes: limits.volume_upload.packed_bytes,
    },
    is_slow: true,
    success: {
      status: 200,
      json: z.object({
        files: z.number().int(),
        size_bytes: z.number().int().describe('Unpacked.'),
        before: volumeSnapshot.nullable().describe('The files that were replaced; null when the volume did not exist.'),
      }),
    },
    errors: [
      'invalid_input',
      'invalid_archive',
      'project_not_found',
      'volume_not_found',
      'volume_not_empty',
      'volume_in_use',
      'build_in_progress',
      'storage_full',
      'runtime_unavailable',
    ],
  }),
  listVolumeFiles: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/volumes/{name}/files',
    resource: 'project',
    group: 'Instance',
    summary: 'List the files in a folder of a volume',
    description: 'The current files. Links are listed and not followed.',
    access: 'caller',
    params: volumeParams,
    query: z.object({ branch, path: volumePath.optional().describe('The folder; without it the volume’s own.') }),
    success: {
      status: 200,
      json: z.object({
        entries: z.array(volumeEntry).describe('Folders first, then by name.'),
        is_complete: z
          .boolean()
          .describe(`False when the folder has more than ${limits.volume_entries} entries, or when reading it exceeded a limit.`),
      }),
    },
    errors: ['invalid_input', 'project_not_found', 'volume_not_found', 'volume_file_not_found'],
  }),
  downloadVolumeFile: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/volumes/{name}/files/content',
    resource: 'project',
    group: 'Instance',
    summary: 'Download a file of a volume',
    access: 'caller',
    scope: 'admin',
    params: volumeParams,
    query: z.object({ branch, path: volumePath }),
    success: { status: 200, content_type: 'application/octet-stream', is_stream: true },
    errors: ['invalid_input', 'project_not_found', 'volume_not_found', 'volume_file_not_found'],
  }),
  deleteVolume: operation({
    method: 'DELETE',
    path: '/instance/projects/{slug}/volumes/{name}',
    resource: 'project',
    group: 'Instance',
    summary: 'Delete a volume that the live version does not use',
    description: 'Takes a snapshot first, from which the volume can be restored.',
    access: 'caller',
    params: volumeParams,
    query: z.object({ branch }),
    success: { status: 200, json: z.object({ before: volumeSnapshot.describe('The files that were deleted.') }) },
    errors: ['invalid_input', 'project_not_found', 'volume_not_found', 'volume_in_use'],
  }),
  deleteVolumeSnapshot: operation({
    method: 'DELETE',
    path: '/instance/projects/{slug}/volumes/{name}/snapshots/{id}',
    resource: 'project',
    group: 'Instance',
    summary: 'Delete a snapshot of a volume',
    access: 'caller',
    params: volumeParams.extend({ id: z.string() }),
    query: z.object({ branch }),
    success: { status: 204 },
    errors: ['invalid_input', 'project_not_found', 'volume_not_found', 'snapshot_not_found'],
  }),
}
