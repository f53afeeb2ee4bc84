import type { DatabaseTable, ResultColumn, RowFilter, TableRow } from '../contract/database-browser.ts'
import { isShortType, toCell } from './cell-values.ts'
import { sizeError, toStatementError } from './query-error.ts'
import type { QuerySession } from './query-session.ts'
import { quoteIdentifier, quoteTable } from './quote-sql.ts'

export interface RowsQuery {
  table: DatabaseTable
  filters: readonly RowFilter[]
  /** A column of the table; undefined: the order of its key. */
  order: { column: string; is_descending: boolean } | undefined
  after: RowsCursor | undefined
  limit: number
  value_characters: number
}

/** Where the next page starts: after a row, by the values of the order as texts; or, without a key, after a number of rows. */
export type RowsCursor = { after: (string | null)[] } | { offset: number }

export interface RowsPage {
  columns: ResultColumn[]
  rows: TableRow[]
  next: RowsCursor | undefined
}

/** A longer cursor does not fit into an address. */
const maxCursor_characters = 3000

const operators = { eq: '=', ne: 'IS DISTINCT FROM', lt: '<', lte: '<=', gt: '>', gte: '>=' } as const

/** With its table, because `ORDER BY` would otherwise mean the text in the output. */
const quoteColumn = (name: string): string => `r.${quoteIdentifier(name)}`

interface SortTerm {
  name: string
  is_nullable: boolean
}

/**
 * A page of rows. Names come from the catalogue and are quoted; values are parameters, which the server parses as the type of their column. The order ends
 * with the key of the table, so that it is total, and the next page starts after the last row instead of counting rows.
 */
export async function listTableRows({ client, isOverLimit }: QuerySession, query: RowsQuery): Promise<RowsPage> {
  const { table, order, after, limit } = query
  const terms = sortTerms(table, order?.column)
  const hasKey = table.row_key.length > 0
  const isDescending = order?.is_descending ?? false
  const parameters: (string | null)[] = []
  const bind = (value: string) => `$${parameters.push(value)}`
  const conditions = query.filters.map((filter) => formatFilter(filter, bind))
  if (after && 'after' in after) conditions.push(formatAfter(terms, after.after, isDescending, bind))
  const longColumns = table.columns.filter(({ type }) => !isShortType(type))
  const selected = [
    ...table.columns.map((column) => formatValue(column, query.value_characters)),
    ...longColumns.map(({ name, type }) => `pg_catalog.octet_length(${quoteColumn(name)}${type === 'bytea' ? '' : '::text'})`),
    ...terms.map(({ name }) => `${quoteColumn(name)}::text`),
  ]
  const sql = [
    `SELECT ${selected.join(', ')} FROM ${quoteTable(table)} AS r`,
    conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '',
    terms.length > 0 ? `ORDER BY ${terms.map(({ name }) => `${quoteColumn(name)} ${isDescending ? 'DESC' : 'ASC'}`).join(', ')}` : '',
    `LIMIT ${limit + 1}${after && 'offset' in after ? ` OFFSET ${after.offset}` : ''}`,
  ].join(' ')
  const result = await client
    .query<(string | null)[]>({ text: sql, values: parameters, rowMode: 'array', types: { getTypeParser: () => (value: string) => value } })
    .catch((error: unknown) => {
      throw isOverLimit() ? sizeError() : toStatementError(error, '')
    })

  const page = result.rows.slice(0, limit)
  const sortStart = table.columns.length + longColumns.length
  const rows = page.map((row) => {
    const values = table.columns.map(({ name, type }, index) => {
      const cell = toCell(row[index] ?? null, type, query.value_characters)
      const long = longColumns.findIndex((column) => column.name === name)
      return typeof cell === 'object' && cell !== null ? { ...cell, size_bytes: Number(row[table.columns.length + long]) } : cell
    })
    const key = table.row_key.map((name) => row[sortStart + terms.findIndex((term) => term.name === name)] ?? '')
    return { key: hasKey ? key : null, values }
  })
  const columns = table.columns.map(({ name, type }) => ({ name, type }))
  const last = page.at(-1)
  if (!last || result.rows.length <= limit) return { columns, rows, next: undefined }
  const next: RowsCursor = { after: last.slice(sortStart) }
  if (hasKey && JSON.stringify(next).length <= maxCursor_characters) return { columns, rows, next }
  return { columns, rows, next: { offset: (after && 'offset' in after ? after.offset : 0) + limit } }
}

/** The column of the order, then the key. Without a key, only that column. */
function sortTerms({ columns, row_key }: DatabaseTable, order: string | undefined): SortTerm[] {
  const names = [...(order === undefined ? [] : [order]), ...row_key.filter((name) => name !== order)]
  return names.map((name) => ({ name, is_nullable: columns.find((column) => column.name === name)?.is_nullable ?? true }))
}

/** One character more than is shown, so that a cut is noticed. */
function formatValue({ name, type }: ResultColumn, maxCharacters: number): string {
  const column = quoteColumn(name)
  if (isShortType(type)) return `${column}::text`
  if (type === 'bytea') return `'\\x' || pg_catalog.encode(pg_catalog.substr(${column}, 1, ${Math.ceil(maxCharacters / 2)}), 'hex')`
  return `pg_catalog.left(${column}::text, ${maxCharacters + 1})`
}

function formatFilter({ column, op, value = '' }: RowFilter, bind: (value: string) => string): string {
  const name = quoteColumn(column)
  if (op === 'is_null') return `${name} IS NULL`
  if (op === 'is_not_null') return `${name} IS NOT NULL`
  if (op === 'contains' || op === 'starts_with') {
    const pattern = value.replaceAll(/[\\%_]/g, String.raw`\$&`)
    return `${name}::text ILIKE ${bind(`${op === 'contains' ? '%' : ''}${pattern}%`)}`
  }
  return `${name} ${operators[op]} ${bind(value)}`
}

/**
 * Rows after the last one of a page. An ascending order has nulls last, a descending one first, as indexes do. Without nullable columns it is one comparison of
 * rows, which an index answers.
 */
function formatAfter(terms: SortTerm[], values: (string | null)[], isDescending: boolean, bind: (value: string) => string): string {
  const operator = isDescending ? '<' : '>'
  if (!terms.some(({ is_nullable }) => is_nullable))
    return `(${terms.map(({ name }) => quoteColumn(name)).join(', ')}) ${operator} (${terms.map((_, index) => bind(values[index] ?? '')).join(', ')})`
  const [term, ...others] = terms
  if (!term) return 'false'
  const name = quoteColumn(term.name)
  const [value = null, ...rest] = values
  const parameter = value === null ? '' : bind(value)
  const isAfter =
    value === null
      ? isDescending
        ? `${name} IS NOT NULL`
        : 'false'
      : `(${name} ${operator} ${parameter}${term.is_nullable && !isDescending ? ` OR ${name} IS NULL` : ''})`
  if (others.length === 0) return isAfter
  const isSame = value === null ? `${name} IS NULL` : `${name} = ${parameter}`
  return `(${isAfter} OR (${isSame} AND ${formatAfter(others, rest, isDescending, bind)}))`
}
