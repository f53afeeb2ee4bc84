import type { Tx } from './store.ts'
import type { RemoteRow } from './tables.ts'

/** In order of creation. */
export function listRemotes(tx: Tx): RemoteRow[] {
  return tx.sqlAll('SELECT * FROM remotes ORDER BY rowid')
}

export function findRemote(tx: Tx, id: string): RemoteRow | undefined {
  return tx.sqlFirst('SELECT * FROM remotes WHERE id = ?', id)
}

/** False if a remote with this origin exists. */
export function insertRemote(tx: Tx, row: RemoteRow): boolean {
  if (tx.sqlFirst('SELECT 1 AS one FROM remotes WHERE origin = ?', row.origin)) return false
  tx.run(tx.query.insertInto('remotes').values(row))
  return true
}

export function updateRemote(tx: Tx, id: string, change: Partial<Pick<RemoteRow, 'name' | 'hue' | 'sealed_token'>>): void {
  if (Object.keys(change).length > 0) tx.run(tx.query.updateTable('remotes').set(change).where('id', '=', id))
}

export function deleteRemote(tx: Tx, id: string): boolean {
  return tx.sqlFirst('DELETE FROM remotes WHERE id = ? RETURNING id', id) !== undefined
}
