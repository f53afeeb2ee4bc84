import type { Tx } from './open.ts'
import type { Sealer } from './sealed.ts'

/** The certificate authority of the instance. There is one at most; its key is sealed. */
export interface AuthorityRecord {
  id: string
  certificate: string
  key: string
  created_at: string
}

const place = (id: string) => ({ table: 'authorities', column: 'sealed_key', row: id })

export function findAuthority(tx: Tx, sealer: Sealer): AuthorityRecord | undefined {
  const row = tx.sqlFirst<{ id: string; certificate: string; sealed_key: Uint8Array; created_at: string }>(
    'SELECT * FROM authorities ORDER BY created_at DESC LIMIT 1',
  )
  return row && { id: row.id, certificate: row.certificate, key: sealer.unseal(place(row.id), row.sealed_key), created_at: row.created_at }
}

/** Takes the place of the one before. */
export function putAuthority(tx: Tx, sealer: Sealer, { key, ...row }: AuthorityRecord): void {
  removeAuthorities(tx)
  tx.run(tx.query.insertInto('authorities').values({ ...row, sealed_key: sealer.seal(place(row.id), key) }))
}

export function removeAuthorities(tx: Tx): void {
  tx.run(tx.query.deleteFrom('authorities'))
}
