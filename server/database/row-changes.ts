import type { DatabaseTable, RowChange } from '../contract/database-browser.ts'
import { toStatementError } from './query-error.ts'
import type { QuerySession } from './query-session.ts'
import { quoteIdentifier, quoteLiteral, quoteTable } from './quote-sql.ts'

type ChangeValues = Record<string, string | number | boolean | null>

/** A change names a column or a key that its table does not have. */
export class InvalidChangeError extends Error {
  override readonly name = 'InvalidChangeError'
}

/** A statement changed no row, or more than one. Nothing is changed. */
export class RowCountError extends Error {
  override readonly name = 'RowCountError'
}

/** Types without an equality operator. */
const incomparableType = /^(json|xml|point|polygon|line|lseg|box|path|circle)$/
const integerType = /^(smallint|integer|bigint)$/

/** The statement of a change, as it is shown and as it runs. Names are those of the catalogue. */
export function formatChange(change: RowChange, table: DatabaseTable): string {
  const typeOf = (name: string): string => {
    const column = table.columns.find((one) => one.name === name)
    if (!column) throw new InvalidChangeError(`The table ${table.name} has no column “${name}”.`)
    return column.type
  }
  const format = (name: string, value: ChangeValues[string]): string => {
    if (value === null) return 'NULL'
    const text = String(value)
    return integerType.test(typeOf(name)) && /^-?\d{1,19}$/.test(text) ? text : quoteLiteral(text)
  }
  const names = (values: ChangeValues) => Object.keys(values).map((name) => (typeOf(name), quoteIdentifier(name)))

  if (change.kind === 'insert') {
    const columns = names(change.values)
    if (columns.length === 0) return `INSERT INTO ${quoteTable(table)} DEFAULT VALUES`
    return `INSERT INTO ${quoteTable(table)} (${columns.join(', ')}) VALUES (${Object.entries(change.values)
      .map(([name, value]) => format(name, value))
      .join(', ')})`
  }
  const { row_key } = table
  if (row_key.length === 0) throw new InvalidChangeError(`${table.name} has no primary key, so that its rows cannot be told apart. Use SQL.`)
  if (Object.keys(change.key).toSorted().join('\0') !== row_key.toSorted().join('\0'))
    throw new InvalidChangeError(`The key of ${table.name} is: ${row_key.join(', ')}.`)
  const conditions = row_key.map((name) => `${quoteIdentifier(name)} = ${format(name, change.key[name] ?? null)}`)
  if (change.kind === 'delete') return `DELETE FROM ${quoteTable(table)} WHERE ${conditions.join(' AND ')}`
  const columns = names(change.values)
  if (columns.length === 0) throw new InvalidChangeError('The change has no values.')
  for (const [name, value] of Object.entries(change.expected ?? {})) {
    const column = incomparableType.test(typeOf(name)) ? `${quoteIdentifier(name)}::text` : quoteIdentifier(name)
    conditions.push(value === null ? `${quoteIdentifier(name)} IS NULL` : `${column} = ${format(name, value)}`)
  }
  const settings = Object.entries(change.values).map(([name, value], index) => `${columns[index]} = ${format(name, value)}`)
  return `UPDATE ${quoteTable(table)} SET ${settings.join(', ')} WHERE ${conditions.join(' AND ')}`
}

/** Runs the statements in the transaction of the session. Each has to change exactly one row. */
export async function applyChanges({ client }: QuerySession, statements: readonly string[]): Promise<void> {
  for (const text of statements) {
    const statement = { text, queryMode: 'extended' }
    const { rowCount } = await client.query(statement).catch((error: unknown) => {
      throw toStatementError(error, text)
    })
    if (rowCount === 1) continue
    const reason =
      rowCount === 0
        ? 'The row no longer exists, or its values changed in the meantime. Load the rows again.'
        : `The statement would change ${rowCount} rows instead of one.`
    throw new RowCountError(reason)
  }
  await client.query('COMMIT').catch((error: unknown) => {
    throw toStatementError(error, '')
  })
}
