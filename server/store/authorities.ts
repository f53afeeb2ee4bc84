import type { Db } from './open.ts'
import type { Sealer } from './sealed.ts'

/** The certificate authority of the instance. There is one at most; its key is sealed. */
interface AuthorityRecord {
  id: string
  certificate: string
  key: string
  created_at: string
}

const place = (id: string) => ({ table: 'authorities', column: 'sealed_key', row: id })

export function createAuthorityStore(db: Db, sealer: Sealer) {
  return {
    read: () =>
      db.read((tx): AuthorityRecord | undefined => {
        const row = tx.sqlFirst<Omit<AuthorityRecord, 'key'> & { sealed_key: Uint8Array }>(
          'SELECT * FROM authorities ORDER BY created_at DESC LIMIT 1',
        )
        return row && { id: row.id, certificate: row.certificate, key: sealer.unseal(place(row.id), row.sealed_key), created_at: row.created_at }
      }),
    /** Takes the place of the one before. */
    write: ({ key, ...row }: AuthorityRecord) =>
      db.write((tx) => {
        tx.sqlRun('DELETE FROM authorities')
        tx.run(tx.query.insertInto('authorities').values({ ...row, sealed_key: sealer.seal(place(row.id), key) }))
      }),
    remove: () => db.write((tx) => void tx.sqlRun('DELETE FROM authorities')),
  }
}
