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

export function createCertificateAuthorityStore(db: Db, sealer: Sealer) {
  return {
    read: () =>
      db.read((tx): CertificateAuthorityRecord | undefined => {
        const row = tx.sqlFirst<Omit<CertificateAuthorityRecord, 'key'> & { sealed_key: Uint8Array }>(
          'SELECT * FROM authorities ORDER BY created_at DESC LIMIT 1',
        )
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
        tx.sqlRun('DELETE FROM authorities')
        tx.run(tx.query.insertInto('authorities').values({ ...row, sealed_key: sealer.seal(encryptionContextOf(row.id), key) }))
      }),
    remove: () => db.write((tx) => void tx.sqlRun('DELETE FROM authorities')),
  }
}
