import { z } from 'zod'
import { database } from './databases.ts'
import { operation } from './operation.ts'
import { empty, projectParams } from './shared.ts'

export const databaseUpgrade = z.object({
  version: z.number().int().describe('The major version of PostgreSQL that the database is on.'),
  upgrade_to: z.number().int().nullable().describe('The version of an upgrade; null if there is none.'),
  previous_version: z.number().int().nullable().describe('The version whose server keeps the data from before the upgrade.'),
  is_upgrading: z.boolean(),
})
export type DatabaseUpgrade = z.output<typeof databaseUpgrade>

const path = '/instance/projects/{slug}/database/upgrade'
const changed = { status: 200, json: z.object({ database, upgrade: databaseUpgrade, deployment_id: z.string().nullable() }) } as const

/** Instance-only operations: a database moves to a newer major version of PostgreSQL. */
export const databaseUpgradeOperations = {
  getDatabaseUpgrade: operation({
    method: 'GET',
    path,
    resource: 'project',
    group: 'Instance',
    summary: 'Get the version of a project’s database, and whether there is a newer one',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 200, json: z.object({ upgrade: databaseUpgrade.nullable() }) },
    errors: ['project_not_found'],
  }),
  upgradeDatabase: operation({
    method: 'POST',
    path,
    resource: 'project',
    group: 'Instance',
    summary: 'Upgrade the database to the current major version of PostgreSQL',
    description:
      'Copies it to a new server by dump and restore, with the same name and password. The app cannot connect during the copy and is redeployed afterwards. The data from before the upgrade is kept until `finishDatabaseUpgrade`. On an error, nothing changes.',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: changed,
    errors: [
      'project_not_found',
      'database_not_found',
      'database_unavailable',
      'upgrade_unavailable',
      'restore_failed',
      'storage_full',
      'runtime_not_isolated',
    ],
  }),
  revertDatabaseUpgrade: operation({
    method: 'POST',
    path: `${path}/revert`,
    resource: 'project',
    group: 'Instance',
    summary: 'Revert to the data from before the upgrade',
    description: 'The current data is dumped first. The app is redeployed.',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: changed,
    errors: ['project_not_found', 'database_not_found', 'database_unavailable', 'upgrade_unavailable', 'storage_full', 'runtime_not_isolated'],
  }),
  finishDatabaseUpgrade: operation({
    method: 'DELETE',
    path,
    resource: 'project',
    group: 'Instance',
    summary: 'Delete the data from before the upgrade',
    access: 'caller',
    params: projectParams,
    query: empty,
    success: { status: 204 },
    errors: ['project_not_found', 'database_not_found', 'database_unavailable', 'upgrade_unavailable'],
  }),
}
