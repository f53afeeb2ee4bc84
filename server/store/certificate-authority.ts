import { first, run, tables } from './query.ts'
import type { Db } from './store.ts'
import type { Sealer } from './sealer.ts'

/** The certificate authority of the instance. There is at most one; its key is encrypted. */
interface CertificateAuthorityRecord {
  id: string
  certificate: string
  key: string
  created_at: string
}

const encryptionContextOf = (id: string) => ({ table: 'authorities', column: 'sealed_key', row: id })

const findNewest = first(() => tables.selectFrom('authorities').selectAll().orderBy('created_at', 'desc').limit(1))
const deleteAuthorities = run(() => tables.deleteFrom('authorities'))

export function createCertificateAuthorityStore(db: Db, sealer: Sealer) {
  return {
    read: () =>
      db.read((tx): CertificateAuthorityRecord | undefined => {
        const row = findNewest(tx)
        return (
          row && {
            id: row.id,
            certificate: row.certificate,
            key: sealer.unseal(encryptionContextOf(row.id), row.sealed_key),
            created_at: row.created_at,
          }
        )
      }),
    /** Replaces the previous authority. */
    write: ({ key, ...row }: CertificateAuthorityRecord) =>
      db.write((tx) => {
        deleteAuthorities(tx)
        tx.run(tables.insertInto('authorities').values({ ...row, sealed_key: sealer.seal(encryptionContextOf(row.id), key) }))
      }),
    remove: () => db.write((tx) => void deleteAuthorities(tx)),
  }
}
