import { first, tables } from './query.ts'
import type { Sealer } from './sealer.ts'
import type { Db } from './store.ts'

const id = 'cluster'
const encryptionContext = { table: 'cluster_identities', column: 'sealed_identity', row: id }
const findIdentity = first(() => tables.selectFrom('cluster_identities').select('sealed_identity').where('id', '=', id))

/** The secrets of a cluster, as text. They are in backups, so that its nodes trust the restored instance. */
export function createClusterIdentityStore(db: Db, sealer: Sealer) {
  return {
    read: () =>
      db.read((tx) => {
        const row = findIdentity(tx)
        return row && sealer.unseal(encryptionContext, row.sealed_identity)
      }),
    write: (text: string) =>
      db.write((tx) => void tx.run(tables.insertInto('cluster_identities').values({ id, sealed_identity: sealer.seal(encryptionContext, text) }))),
  }
}
