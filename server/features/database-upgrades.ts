import type { databaseUpgradeOperations, DatabaseUpgrade } from '../contract/database-upgrades.ts'
import { Problem } from '../contract/errors.ts'
import { currentPostgresVersion } from '../contract/postgres-versions.ts'
import { UpgradeUnavailableError } from '../database/upgrade-database.ts'
import type { DatabaseRow } from '../store/database-tables.ts'
import type { OperationHandlers } from './context.ts'
import { readDatabase, requireDatabase, translateDatabaseErrors } from './databases.ts'
import type { FeatureDeps } from './deps.ts'
import { redeployInTransaction, requireRedeployable } from './redeploy.ts'

export function createDatabaseUpgradeHandlers(deps: FeatureDeps): Pick<OperationHandlers, keyof typeof databaseUpgradeOperations> {
  const { databases } = deps
  const { db } = deps.store

  const change = async (work: Promise<{ row: DatabaseRow; result: string | undefined }>) => {
    const { row, result } = await translateUpgradeErrors(work)
    return { database: await readDatabase(deps, row), upgrade: presentUpgrade(row), deployment_id: result ?? null }
  }

  return {
    async getDatabaseUpgrade({ project }) {
      const row = await databases.find(project.id)
      return { upgrade: row?.is_ready === 1 ? presentUpgrade(row) : null }
    },

    async upgradeDatabase({ project, signal }) {
      await requireDatabase(deps, project.id)
      await db.read((tx) => requireRedeployable(tx, deps, project))
      return change(databases.upgrade(project.id, signal, (tx) => redeployInTransaction(tx, deps, project.id)))
    },

    async revertDatabaseUpgrade({ project }) {
      await requireDatabase(deps, project.id)
      await db.read((tx) => requireRedeployable(tx, deps, project))
      return change(databases.revertUpgrade(project.id, (tx) => redeployInTransaction(tx, deps, project.id)))
    },

    async finishDatabaseUpgrade({ project }) {
      await requireDatabase(deps, project.id)
      await translateUpgradeErrors(databases.finishUpgrade(project.id))
    },
  }
}

const presentUpgrade = ({ version, upgrading_to, previous_version }: DatabaseRow): DatabaseUpgrade => ({
  version,
  upgrade_to: version === currentPostgresVersion ? null : currentPostgresVersion,
  previous_version,
  is_upgrading: upgrading_to !== null,
})

const translateUpgradeErrors = <T>(work: Promise<T>): Promise<T> =>
  translateDatabaseErrors(work).catch((error: unknown) => {
    if (error instanceof UpgradeUnavailableError) throw new Problem('upgrade_unavailable', error.message)
    throw error
  })
