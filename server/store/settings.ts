import type { Settings } from '../contract/instance.ts'
import type { Tx } from './store.ts'

/** Settings that were changed, as JSON by key. Defaults belong to the settings feature. */
export function readSettings(tx: Tx): Partial<Settings> {
  const rows = tx.sqlAll<{ key: string; value: string }>('SELECT key, value FROM settings')
  return Object.fromEntries(rows.map((row) => [row.key, JSON.parse(row.value)]))
}

export function writeSetting(tx: Tx, key: string, value: unknown): void {
  tx.sqlRun('INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value', key, JSON.stringify(value))
}

/** A value that is not a setting of the contract, such as the id of the instance. */
export function readSetting<T>(tx: Tx, key: string): T | undefined {
  const row = tx.sqlFirst<{ value: string }>('SELECT value FROM settings WHERE key = ?', key)
  return row && (JSON.parse(row.value) as T)
}
