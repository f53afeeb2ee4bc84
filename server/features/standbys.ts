import { version } from '../contract/index.ts'
import { Problem } from '../contract/errors.ts'
import type { standbyOperations } from '../contract/standbys.ts'
import { readSetting } from '../store/settings.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { toMachineName } from './standby-checks.ts'

/** What a standby on another machine copies, and which there are. */
export function createStandbyHandlers({
  store,
  replication,
  findSuccessor,
}: Pick<FeatureDeps, 'store' | 'replication' | 'findSuccessor'>): Pick<OperationHandlers, keyof typeof standbyOperations> {
  return {
    async listStandbys() {
      const successor = findSuccessor()
      const standbys = replication.listStandbys().map((one) => ({ ...one, name: toMachineName(one.name), takes_over: one.name === successor }))
      return { standbys: standbys.toSorted((a, b) => a.name.localeCompare(b.name)) }
    },

    async readChanges(_context, { query: { name, generation, offset } }) {
      const position = generation === undefined || offset === undefined ? undefined : { generation, offset }
      const { changes, next, is_end } = await replication.readChanges(name, position)
      const instance_id = await store.db.read((tx) => readSetting<string>(tx, 'instance_id'))
      return { changes: changes && Buffer.from(changes).toString('base64'), next, is_end, instance_id: instance_id ?? '', version }
    },

    copyDatabase: () => replication.copyDatabase(),
    listReplicatedParts: async () => ({ parts: await replication.listParts() }),

    async copyPart(_context, { params: { folder, part } }) {
      const bytes = await replication.copyPart(folder, part)
      if (!bytes) throw new Problem('source_not_found', 'This part no longer exists. List the parts again.')
      return bytes
    },
  }
}
