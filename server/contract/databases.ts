import { z } from 'zod'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { dumpedServices } from './service-presets.ts'
import { dateTime, empty, projectIdParams, projectParams } from './shared.ts'

export const database = z.object({
  db_name: z.string(),
  db_user: z.string(),
  password: z.string(),
  host: z.string(),
  port: z.number().int(),
  connection_string: z.string().describe('Works on the machine of the instance. The app gets its own connection string in `DATABASE_URL`.'),
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
    resource: 'project',
    group: 'Databases',
    summary: 'Create the PostgreSQL database of a project',
    description:
      'The app gets the connection string as `DATABASE_URL`. A deployed project is redeployed, and `deployment_id` names that deployment (our reading).',
    access: 'caller',
    params: projectParams,
    query: empty,
    is_slow: true,
    success: { status: 201, json: databaseResponse.extend({ deployment_id: z.string().nullable() }) },
    errors: ['payment_method_required', 'project_not_found', 'database_exists', 'database_unavailable', 'storage_full', 'runtime_not_isolated'],
  }),
  getDatabase: operation({
    method: 'GET',
    path: '/v1/projects/{slug}/database',
    resource: 'project',
    group: 'Databases',
    summary: 'Get the database of a project, including the password',
    access: 'caller',
    scope: 'admin',
    params: projectParams,
    query: empty,
    success: { status: 200, json: databaseResponse },
    errors: ['project_not_found', 'database_not_found', 'database_unavailable'],
  }),
  deleteDatabase: operation({
    method: 'DELETE',
    path: '/v1/projects/{slug}/database',
    resource: 'project',
    group: 'Databases',
    summary: 'Drop the database and its role',
    description:
      'The data is no longer available through the API. The instance first writes a dump, which it keeps on its disk until its owner deletes it. The project is redeployed without `DATABASE_URL` (our readings).',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 204 },
    errors: ['project_not_found', 'database_not_found', 'database_unavailable', 'storage_full', 'runtime_not_isolated'],
  }),
}

/** Only instances have this operation; hosted accounts do not. */
export const databaseLookupOperations = {
  findDatabase: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/database',
    resource: 'project',
    group: 'Instance',
    summary: 'Get the database of a project, or null',
    description: 'Like `getDatabase`, but a missing database or an unavailable server is not an error.',
    access: 'caller',
    scope: 'admin',
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
  service: z.string().nullable().describe('The managed service; null for the PostgreSQL database.'),
  name: z.string().nullable().describe('Given by the user; null without one.'),
  reason: z
    .enum(['manual', 'drop', 'restore', 'query'])
    .describe('Created manually, before the database was dropped, before a restore replaced the data, or before a destructive statement.'),
  bytes: z.number().int(),
  file: z.string().describe('File name in the folder `dumps` of the data folder.'),
  created_at: dateTime,
})
export type DatabaseDump = z.output<typeof databaseDump>

const databaseDumpList = z.object({ dumps: z.array(databaseDump) })

const serviceQuery = z.object({
  service: z.enum(dumpedServices).optional().describe('A managed service instead of the PostgreSQL database.'),
})
const dumpName = z.string().trim().min(1).max(limits.name.max)
const restored = z.object({ database: database.nullable().describe('Null for a managed service.'), dump: databaseDump })

/** Dumps in gzipped plain SQL, an extension of instances. They are kept when the database or the project is deleted. */
export const databaseDumpOperations = {
  listDatabaseDumps: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/database/dumps',
    resource: 'project',
    group: 'Instance',
    summary: 'List the dumps of a project’s database, newest first',
    access: 'caller',
    params: projectParams,
    query: serviceQuery,
    success: { status: 200, json: databaseDumpList },
    errors: ['project_not_found'],
  }),
  dumpDatabase: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/database/dumps',
    resource: 'project',
    group: 'Instance',
    summary: 'Create a dump of the database',
    access: 'caller',
    scope: 'deploy',
    params: projectParams,
    query: serviceQuery.extend({ name: dumpName.optional() }),
    is_slow: true,
    success: { status: 201, json: z.object({ dump: databaseDump }) },
    errors: ['project_not_found', 'database_not_found', 'service_not_found', 'database_unavailable', 'storage_full'],
  }),
  downloadDatabaseDump: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/database/dumps/{id}',
    resource: 'database_dump',
    group: 'Instance',
    summary: 'Download a dump',
    access: 'caller',
    scope: 'admin',
    params: projectIdParams,
    query: empty,
    success: { status: 200, content_type: 'application/gzip', is_stream: true },
    errors: ['project_not_found', 'dump_not_found'],
  }),
  restoreDatabase: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/database/dumps/{id}/restore',
    resource: 'database_dump',
    group: 'Instance',
    summary: 'Restore the database from a dump',
    description: 'Atomic: on an error, nothing changes. The current data is dumped first.',
    access: 'caller',
    params: projectIdParams,
    query: empty,
    is_slow: true,
    success: { status: 200, json: restored },
    errors: [
      'project_not_found',
      'dump_not_found',
      'database_not_found',
      'service_not_found',
      'database_unavailable',
      'restore_failed',
      'storage_full',
    ],
  }),
  importDatabase: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/database/import',
    resource: 'project',
    group: 'Instance',
    summary: 'Restore the database from an SQL file of pg_dump, gzipped or not',
    description: 'Atomic: on an error, nothing changes. The current data is dumped first; `dump` names that dump.',
    access: 'caller',
    params: projectParams,
    query: serviceQuery,
    upload: {
      types: ['application/sql', 'text/plain', 'application/gzip', 'application/x-gzip', 'application/octet-stream'],
      max_bytes: 4 * 2 ** 30,
    },
    is_slow: true,
    success: { status: 200, json: restored },
    errors: ['project_not_found', 'database_not_found', 'service_not_found', 'database_unavailable', 'restore_failed', 'storage_full'],
  }),
  renameDatabaseDump: operation({
    method: 'PATCH',
    path: '/instance/projects/{slug}/database/dumps/{id}',
    resource: 'database_dump',
    group: 'Instance',
    summary: 'Name a dump',
    access: 'caller',
    scope: 'deploy',
    params: projectIdParams,
    query: empty,
    body: z.strictObject({ name: dumpName.nullable() }),
    success: { status: 200, json: z.object({ dump: databaseDump }) },
    errors: ['invalid_input', 'project_not_found', 'dump_not_found'],
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
    summary: 'List all dumps, including those of deleted projects',
    access: 'owner',
    params: empty,
    query: empty,
    success: { status: 200, json: databaseDumpList },
    errors: [],
  }),
}
