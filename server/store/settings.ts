import type { Settings } from '../contract/instance.ts'
import { all, first, run, tables } from './query.ts'
import type { SqliteTransaction } from './sqlite.ts'

const listSettings = all(() => tables.selectFrom('settings').select(['key', 'value']))
const findSetting = first((key: string) => tables.selectFrom('settings').select('value').where('key', '=', key))
const upsertSetting = run((key: string, value: string) =>
  tables
    .insertInto('settings')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: (eb) => eb.ref('excluded.value') })),
)

/** Settings that were changed, as JSON by key. Defaults belong to the settings feature. */
export function readSettings(tx: SqliteTransaction): Partial<Settings> {
  return Object.fromEntries(listSettings(tx).map((row) => [row.key, JSON.parse(row.value)]))
}

export function writeSetting(tx: SqliteTransaction, key: string, value: unknown): void {
  upsertSetting(tx, key, JSON.stringify(value))
}

/** A value that is not a setting of the contract, such as the id of the instance. */
export function readSetting<T>(tx: SqliteTransaction, key: string): T | undefined {
  const row = findSetting(tx, key)
  return row && (JSON.parse(row.value) as T)
}
