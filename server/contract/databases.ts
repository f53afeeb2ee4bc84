import { z } from 'zod'
import { operation } from './operation.ts'
import { dateTime, empty, projectIdParams, projectParams } from './shared.ts'

export const database = z.object({
  db_name: z.string(),
  db_user: z.string(),
  password: z.string(),
  host: z.string(),
  port: z.number().int(),
  connection_string: z.string().describe('Works from the machine of the instance; the app has its own in `DATABASE_URL`.'),
  engine: z.literal('postgresql'),
  engine_version: z.string(),
  size_bytes: z.number().int(),
  created_at: dateTime,
})
export type Database = z.output<typeof database>

const databaseResponse = z.object({ database })

export const databaseOperations = {
  createDatabase: operation({
    method: 'POST',
    path: '/v1/projects/{slug}/database',
    group: 'Databases',
    summary: 'Give a project a PostgreSQL database',
    description:
      'The app gets its address as `DATABASE_URL`: a project that is deployed is deployed anew, and `deployment_id` names that deployment (our reading).',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 201, json: databaseResponse.extend({ deployment_id: z.string().nullable() }) },
    errors: ['payment_method_required', 'project_not_found', 'database_exists', 'database_unavailable', 'storage_full', 'runtime_not_isolated'],
  }),
  getDatabase: operation({
    method: 'GET',
    path: '/v1/projects/{slug}/database',
    group: 'Databases',
    summary: 'Read the database of a project, password included',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 200, json: databaseResponse },
    errors: ['project_not_found', 'database_not_found', 'database_unavailable'],
  }),
  deleteDatabase: operation({
    method: 'DELETE',
    path: '/v1/projects/{slug}/database',
    group: 'Databases',
    summary: 'Drop the database and its role',
    description:
      'For the API the data is gone. An instance writes a dump first and keeps it on its own disk until its owner deletes it; the project is deployed anew without `DATABASE_URL` (our readings).',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 204 },
    errors: ['project_not_found', 'database_not_found', 'database_unavailable', 'storage_full', 'runtime_not_isolated'],
  }),
}

/** Of an instance alone: a hosted account has no such operation. */
export const databaseLookupOperations = {
  findDatabase: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/database',
    group: 'Instance',
    summary: 'The database of a project, or that there is none',
    description: 'As `getDatabase`, for a page that does not know yet: that there is none, or that its server is away, is no error.',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 200, json: z.object({ database: database.nullable(), unavailable: z.string().nullable() }) },
    errors: ['project_not_found'],
  }),
}

export const databaseDump = z.object({
  id: z.string(),
  project_slug: z.string(),
  db_name: z.string(),
  reason: z.enum(['manual', 'drop', 'restore']).describe('Asked for; written before a drop; written before a restore replaced the data.'),
  bytes: z.number().int(),
  file: z.string().describe('The name of its file in the folder `dumps` of the data folder.'),
  created_at: dateTime,
})
export type DatabaseDump = z.output<typeof databaseDump>

const databaseDumpList = z.object({ dumps: z.array(databaseDump) })

/** What an instance adds: dumps, in plain SQL, gzipped. They stay when the database or the project goes. */
export const databaseDumpOperations = {
  listDatabaseDumps: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/database/dumps',
    group: 'Instance',
    summary: 'The dumps of a project’s database, newest first',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 200, json: databaseDumpList },
    errors: ['project_not_found'],
  }),
  dumpDatabase: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/database/dumps',
    group: 'Instance',
    summary: 'Write a dump of the database',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 201, json: z.object({ dump: databaseDump }) },
    errors: ['project_not_found', 'database_not_found', 'database_unavailable', 'storage_full'],
  }),
  downloadDatabaseDump: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/database/dumps/{id}',
    group: 'Instance',
    summary: 'Download a dump',
    access: 'caller',
    params: projectIdParams,
    query: empty,
    success: { status: 200, content_type: 'application/gzip', is_stream: true },
    errors: ['project_not_found', 'dump_not_found'],
  }),
  restoreDatabase: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/database/dumps/{id}/restore',
    group: 'Instance',
    summary: 'Put the database back to a dump',
    description: 'All or nothing. What is there now is dumped first.',
    access: 'caller',
    params: projectIdParams,
    query: empty,
    success: { status: 200, json: z.object({ database, dump: databaseDump }) },
    errors: ['project_not_found', 'dump_not_found', 'database_not_found', 'database_unavailable', 'restore_failed', 'storage_full'],
  }),
  importDatabase: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/database/import',
    group: 'Instance',
    summary: 'Put the database back to a file of SQL, as pg_dump writes it, gzipped or not',
    description: 'All or nothing. What is there now is dumped first; `dump` names it.',
    access: 'caller',
    params: projectParams,
    query: empty,
    upload: {
      types: ['application/sql', 'text/plain', 'application/gzip', 'application/x-gzip', 'application/octet-stream'],
      max_bytes: 4 * 2 ** 30,
    },
    success: { status: 200, json: z.object({ database, dump: databaseDump }) },
    errors: ['project_not_found', 'database_not_found', 'database_unavailable', 'restore_failed', 'storage_full'],
  }),
  deleteDatabaseDump: operation({
    method: 'DELETE',
    path: '/instance/dumps/{id}',
    group: 'Instance',
    summary: 'Delete a dump',
    access: 'owner',
    params: z.object({ id: z.string() }),
    query: empty,
    success: { status: 204 },
    errors: ['dump_not_found'],
  }),
  listEveryDatabaseDump: operation({
    method: 'GET',
    path: '/instance/dumps',
    group: 'Instance',
    summary: 'Every dump there is, those of projects that are gone included',
    access: 'owner',
    params: empty,
    query: empty,
    success: { status: 200, json: databaseDumpList },
    errors: [],
  }),
}
