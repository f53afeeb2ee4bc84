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
  'backups',
  'ledger',
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
    .describe('What a clean-up of this kind would free; null when it cannot be told beforehand, 0 when it is never cleaned.'),
  place: z.enum(['data_folder', 'engine']).describe('In the data folder, or inside the Docker engine (whose own disk may give it back later).'),
  note: z.string().nullable().describe('What a clean-up of it means, or why it is not known now.'),
})
export type DiskUsage = z.output<typeof diskUsage>

/** What a clean-up may free; the rest is never touched by one. */
export const cleanableKind = z.enum(['images', 'build_cache', 'volumes', 'bundles', 'logs', 'edge_cache', 'screenshots', 'other'])
export type CleanableKind = z.output<typeof cleanableKind>

export const backup = z.object({
  name: z.string(),
  kind: z.enum(['full', 'hourly', 'before_migration']).describe('Everything in one file; a copy of the ledger alone.'),
  bytes: z.number().int(),
  path: z.string().describe('Where it lies on the machine of the instance.'),
  created_at: dateTime,
})
export type Backup = z.output<typeof backup>

const nameParams = z.object({ name: z.string() })

export const diskOperations = {
  getDisk: operation({
    method: 'GET',
    path: '/instance/disk',
    group: 'Instance',
    summary: 'What takes which room on the disk',
    access: 'owner',
    params: empty,
    query: empty,
    success: {
      status: 200,
      json: z.object({
        kinds: z.array(diskUsage),
        total_bytes: z.number().int(),
        data_dir: z.string(),
        free_bytes: z.number().int().describe('Left on the disk of the data folder.'),
      }),
    },
    errors: [],
  }),
  cleanDisk: operation({
    method: 'POST',
    path: '/instance/disk/clean',
    group: 'Instance',
    summary: 'Free what nothing needs',
    description:
      'Builds and bundles past `keep_deployments`, what failed attempts left, build cache, logs of deployments that are gone. Never what serves or what it can be rolled back to at once, and nothing that Homeport did not make.',
    access: 'owner',
    params: empty,
    query: empty,
    body: z.strictObject({ kinds: z.array(cleanableKind).min(1).optional().describe('Absent: all that is safe, the edge cache left alone.') }),
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
    summary: 'Backups and safe copies, newest first',
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
          .describe('A start found the database damaged, and a copy took its place. Told until the damaged file is removed, or for a week.'),
      }),
    },
    errors: [],
  }),
  createBackup: operation({
    method: 'POST',
    path: '/instance/backups',
    group: 'Instance',
    summary: 'Back the whole instance up into one file',
    description: 'While it runs. The master key is not in it: keep that elsewhere, nothing can be decrypted without it.',
    access: 'owner',
    params: empty,
    query: empty,
    success: { status: 201, json: z.object({ backup, left_out: z.array(z.string()).describe('What could not be taken along, and why.') }) },
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
