import { z } from 'zod'
import { operation } from './operation.ts'
import { dateTime, empty } from './shared.ts'

/** A position in the changes of the main database. */
const replicationPosition = z.object({
  generation: z.string().describe('Of the log of changes, which starts again at each checkpoint.'),
  offset: z.number().int().min(0).describe('In bytes of the log.'),
})

export const standby = z.object({
  name: z.string().describe('The name of its machine.'),
  is_synced: z.boolean().describe('It has everything that was committed when it last asked.'),
  behind_bytes: z.number().int().describe('Changes that it did not have when it last asked.'),
  seen_at: dateTime,
  takes_over: z.boolean().describe('It starts as the instance if this one stops responding.'),
})
export type Standby = z.output<typeof standby>

/** Folders of the data folder whose parts a standby copies. */
export const replicatedFolders = ['archives', 'sources', 'bundles'] as const

const partName = z.object({
  folder: z.enum(replicatedFolders),
  part: z.string().regex(/^[a-z]{3}_[0-9a-z]+$/, 'The id of a project or deployment.'),
})

export const replicatedPart = partName.extend({
  version: z.string().describe('Changes with its content.'),
})
export type ReplicatedPart = z.output<typeof replicatedPart>

/** Instance-only operations: another machine keeps a copy of the instance and can take its place. */
export const standbyOperations = {
  listStandbys: operation({
    method: 'GET',
    path: '/instance/standbys',
    group: 'Instance',
    summary: 'List the standbys that follow this instance',
    description: 'A standby is in the list for a minute after each request for changes.',
    access: 'owner',
    params: empty,
    query: empty,
    success: { status: 200, json: z.object({ standbys: z.array(standby) }) },
    errors: [],
  }),
  readChanges: operation({
    method: 'GET',
    path: '/instance/replication/changes',
    group: 'Instance',
    summary: 'Read changes of the main database, as a standby does',
    description:
      'Without a position, the response has the one at which a copy has to be made, which `copyDatabase` returns afterwards. The changes are bytes of the write-ahead log of SQLite, which a standby keeps next to that copy. When `next` begins another generation, it first moves the log into the copy.',
    access: 'owner',
    params: empty,
    query: z.object({
      name: z.string().min(1).max(255).describe('Of the machine of the standby.'),
      generation: z.string().max(100).optional(),
      offset: z.coerce.number().int().min(0).optional(),
    }),
    success: {
      status: 200,
      json: z.object({
        changes: z.string().nullable().describe('In base64, at most one megabyte. Null: start with a new copy at `next`.'),
        next: replicationPosition,
        is_end: z.boolean().describe('There were no more changes.'),
        instance_id: z.string(),
        version: z.string().describe('Of Homeport.'),
      }),
    },
    errors: ['invalid_input'],
  }),
  copyDatabase: operation({
    method: 'GET',
    path: '/instance/replication/database',
    group: 'Instance',
    summary: 'Download a copy of the main database',
    description: 'An SQLite file as of one moment. Its secrets are encrypted with the master key, which it does not contain.',
    access: 'owner',
    params: empty,
    query: empty,
    is_slow: true,
    success: { status: 200, content_type: 'application/vnd.sqlite3', is_stream: true },
    errors: ['storage_full'],
  }),
  listReplicatedParts: operation({
    method: 'GET',
    path: '/instance/replication/parts',
    group: 'Instance',
    summary: 'List the parts of the data folder that a standby copies',
    description: 'Uploads, sources and static files, without those of deployments that are being built.',
    access: 'owner',
    params: empty,
    query: empty,
    success: { status: 200, json: z.object({ parts: z.array(replicatedPart) }) },
    errors: [],
  }),
  copyPart: operation({
    method: 'GET',
    path: '/instance/replication/parts/{folder}/{part}',
    group: 'Instance',
    summary: 'Download a part of the data folder',
    description: 'As a `.tar.gz` of the format of backups.',
    access: 'owner',
    params: partName,
    query: empty,
    success: { status: 200, content_type: 'application/gzip', is_stream: true },
    errors: ['invalid_input', 'source_not_found'],
  }),
}
