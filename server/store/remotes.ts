import { sql } from 'kysely'
import { all, exists, first, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { RemoteRow } from './tables.ts'

/** In order of creation. */
export const listRemotes = all(() => tables.selectFrom('remotes').selectAll().orderBy(sql.ref('rowid')))

export const findRemote = first((id: string) => tables.selectFrom('remotes').selectAll().where('id', '=', id))

const hasOrigin = exists((origin: string) => tables.selectFrom('remotes').select('id').where('origin', '=', origin))

/** False if a remote with this origin exists. */
export function insertRemote(tx: Tx, row: RemoteRow): boolean {
  if (hasOrigin(tx, row.origin)) return false
  tx.run(tables.insertInto('remotes').values(row))
  return true
}

export function updateRemote(tx: Tx, id: string, change: Partial<Pick<RemoteRow, 'name' | 'hue' | 'sealed_token'>>): void {
  if (Object.keys(change).length > 0) tx.run(tables.updateTable('remotes').set(change).where('id', '=', id))
}

export const deleteRemote = exists((id: string) => tables.deleteFrom('remotes').where('id', '=', id).returning('id'))
