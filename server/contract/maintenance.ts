import { z } from 'zod'
import { operation } from './operation.ts'
import { dateTime, empty } from './shared.ts'

export const diskKind = z.enum([
  'images',
  'build_cache',
  'volumes',
  'logs',
  'bundles',
  'screenshots',
  'edge_cache',
  'metrics',
  'databases',
  'dumps',
  'app_volumes',
  'volume_snapshots',
  'backups',
  'instance_database',
  'unknown_apps',
  'other',
])
export type DiskKind = z.output<typeof diskKind>

export const diskUsage = z.object({
  kind: diskKind,
  bytes: z.number().int(),
  count: z.number().int().nullable(),
  reclaimable_bytes: z
    .number()
    .int()
    .nullable()
    .describe('Bytes that cleaning this kind would free; null if unknown in advance, 0 if it is never cleaned.'),
  location: z
    .enum(['data_folder', 'engine'])
    .describe('In the data folder, or in the Docker engine, whose virtual disk may release the space later.'),
  note: z.string().nullable().describe('What cleaning it means, or why its size is unknown.'),
})
export type DiskUsage = z.output<typeof diskUsage>

/** The kinds that can be cleaned. */
export const cleanableKind = z.enum(['images', 'build_cache', 'volumes', 'bundles', 'logs', 'edge_cache', 'screenshots', 'unknown_apps', 'other'])
export type CleanableKind = z.output<typeof cleanableKind>

export const backup = z.object({
  name: z.string(),
  kind: z.enum(['full', 'hourly', 'before_migration']).describe('`full`: everything in one file; otherwise a copy of the instance’s own database.'),
  bytes: z.number().int(),
  path: z.string().describe('Path on the machine of the instance.'),
  created_at: dateTime,
})
export type Backup = z.output<typeof backup>

const nameParams = z.object({ name: z.string() })

export const diskOperations = {
  getDisk: operation({
    method: 'GET',
    path: '/instance/disk',
    group: 'Instance',
    summary: 'Get disk usage by kind',
    access: 'owner',
    params: empty,
    query: empty,
    success: {
      status: 200,
      json: z.object({
        kinds: z.array(diskUsage),
        total_bytes: z.number().int(),
        data_dir: z.string(),
        free_bytes: z.number().int().describe('Free space on the disk of the data folder.'),
      }),
    },
    errors: [],
  }),
  cleanDisk: operation({
    method: 'POST',
    path: '/instance/disk/clean',
    group: 'Instance',
    summary: 'Delete data that is no longer needed',
    description:
      'Deletes builds and bundles beyond `keep_deployments`, remains of failed builds, the build cache, and logs of deleted deployments. Never deletes live deployments, the immediate rollback target, or data of other programs. `unknown_apps` stops apps that still run although the database, an older copy, does not know their deployments.',
    access: 'owner',
    params: empty,
    query: empty,
    body: z.strictObject({ kinds: z.array(cleanableKind).min(1).optional().describe('Default: all kinds except `edge_cache` and `unknown_apps`.') }),
    success: {
      status: 200,
      json: z.object({
        freed: z.array(z.object({ kind: cleanableKind, bytes: z.number().int(), count: z.number().int(), note: z.string().nullable() })),
        freed_bytes: z.number().int(),
      }),
    },
    errors: ['invalid_input'],
  }),
}

export const backupOperations = {
  listBackups: operation({
    method: 'GET',
    path: '/instance/backups',
    group: 'Instance',
    summary: 'List backups and database copies, newest first',
    access: 'owner',
    params: empty,
    query: empty,
    success: {
      status: 200,
      json: z.object({
        backups: z.array(backup),
        recovered: z
          .object({ at: dateTime, copied_at: dateTime, damaged_file: z.string().nullable(), message: z.string() })
          .nullable()
          .describe(
            'Set if the instance’s own database was damaged at a start and replaced by a copy. Reported for a week, or until the damaged file is deleted.',
          ),
      }),
    },
    errors: [],
  }),
  createBackup: operation({
    method: 'POST',
    path: '/instance/backups',
    group: 'Instance',
    summary: 'Back up the whole instance to one file',
    description:
      'The instance keeps running. The backup does not contain the master key: keep a copy in another place, because nothing can be decrypted without it.',
    access: 'owner',
    params: empty,
    query: empty,
    success: { status: 201, json: z.object({ backup, left_out: z.array(z.string()).describe('What could not be included, and why.') }) },
    errors: ['storage_full'],
  }),
  downloadBackup: operation({
    method: 'GET',
    path: '/instance/backups/{name}',
    group: 'Instance',
    summary: 'Download a backup',
    access: 'owner',
    params: nameParams,
    query: empty,
    success: { status: 200, content_type: 'application/gzip', is_stream: true },
    errors: ['backup_not_found'],
  }),
  deleteBackup: operation({
    method: 'DELETE',
    path: '/instance/backups/{name}',
    group: 'Instance',
    summary: 'Delete a backup',
    access: 'owner',
    params: nameParams,
    query: empty,
    success: { status: 204 },
    errors: ['backup_not_found'],
  }),
}
