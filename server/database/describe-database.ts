import type { Client } from 'pg'
import type { DatabaseTable, TableColumn } from '../contract/database-browser.ts'
import { limits } from '../contract/limits.ts'
import type { QuerySession } from './query-session.ts'

const kinds = { r: 'table', p: 'partitioned_table', v: 'view', m: 'materialized_view', f: 'foreign_table' } as const

interface RelationRow {
  oid: string
  schema: string
  name: string
  kind: keyof typeof kinds
  row_estimate: number | null
}

const relationColumns = `c.oid::text AS oid, n.nspname AS schema, c.relname AS name, c.relkind AS kind,
  CASE WHEN c.reltuples < 0 OR c.relkind = 'v' THEN NULL ELSE c.reltuples::float8 END AS row_estimate`
const relations = "pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')"

export interface DatabaseSchema {
  tables: DatabaseTable[]
  is_truncated: boolean
}

/** The tables and views of a database, without those of the system and of extensions. */
export async function describeDatabase({ client }: QuerySession): Promise<DatabaseSchema> {
  const { rows } = await client.query<RelationRow>(
    `SELECT ${relationColumns} FROM ${relations} AND NOT c.relispartition AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
      AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
    ORDER BY n.nspname = 'public' DESC, n.nspname, c.relname LIMIT ${limits.database_query.tables + 1}`,
  )
  const shown = rows.slice(0, limits.database_query.tables)
  const sizes = new Map((await readSizes(client, shown)).map(({ table_oid, size }) => [table_oid, Number(size)]))
  return { tables: await describeRelations(client, shown, sizes), is_truncated: rows.length > shown.length }
}

/** One table or view, by its exact name; undefined without it. */
export async function findTable({ client }: QuerySession, schema: string, name: string): Promise<DatabaseTable | undefined> {
  // PostgreSQL has no NUL in texts.
  if (`${schema}${name}`.includes('\0')) return undefined
  const { rows } = await client.query<RelationRow>(`SELECT ${relationColumns} FROM ${relations} AND n.nspname = $1 AND c.relname = $2`, [
    schema,
    name,
  ])
  return (await describeRelations(client, rows))[0]
}

async function describeRelations(client: Client, relationRows: RelationRow[], sizes = new Map<string, number>()): Promise<DatabaseTable[]> {
  const oids = relationRows.map(({ oid }) => oid)
  const readColumns = (defaults: string) => () => selectRows<TableColumn>(client, formatColumnsSql(defaults), oids)
  const columns = groupByTable(await unlessLocked(client, readColumns('pg_catalog.pg_get_expr(d.adbin, d.adrelid)'), readColumns('NULL')))
  const keys = groupByTable(await selectRows<{ columns: string[]; is_primary: boolean }>(client, keysSql, oids))
  const foreignKeys = groupByTable(await selectRows<DatabaseTable['foreign_keys'][number]>(client, foreignKeysSql, oids))
  const readIndexes = (definition: string) => () => selectRows<DatabaseTable['indexes'][number]>(client, formatIndexesSql(definition), oids)
  const indexes = groupByTable(await unlessLocked(client, readIndexes('pg_catalog.pg_get_indexdef(i.indexrelid)'), readIndexes("''")))
  return relationRows.map(({ oid, schema, name, kind, row_estimate }) => {
    const unique = keys.get(oid) ?? []
    return {
      schema,
      name,
      kind: kinds[kind],
      columns: columns.get(oid) ?? [],
      primary_key: unique.find(({ is_primary }) => is_primary)?.columns ?? [],
      row_key: unique[0]?.columns ?? [],
      foreign_keys: foreignKeys.get(oid) ?? [],
      indexes: indexes.get(oid) ?? [],
      row_estimate,
      size_bytes: sizes.get(oid) ?? null,
    }
  })
}

type OfTable<Row> = Row & { table_oid: string }

const selectRows = async <Row>(client: Client, sql: string, oids: string[]): Promise<OfTable<Row>[]> => {
  const { rows } = await client.query<OfTable<Row>>(sql, [oids])
  return rows
}

function groupByTable<Row extends object>(rows: OfTable<Row>[]): Map<string, Omit<OfTable<Row>, 'table_oid'>[]> {
  const groups = new Map<string, Omit<OfTable<Row>, 'table_oid'>[]>()
  for (const { table_oid, ...row } of rows) groups.set(table_oid, [...(groups.get(table_oid) ?? []), row])
  return groups
}

const formatColumnsSql = (
  defaults: string,
) => `SELECT a.attrelid::text AS table_oid, a.attname AS name, pg_catalog.format_type(a.atttypid, a.atttypmod) AS type,
    NOT a.attnotnull AS is_nullable, ${defaults} AS "default",
    a.attgenerated <> '' OR a.attidentity = 'a' AS is_generated,
    (SELECT pg_catalog.array_agg(e.enumlabel::text ORDER BY e.enumsortorder) FROM pg_catalog.pg_enum e WHERE e.enumtypid = a.atttypid) AS enum_values
  FROM pg_catalog.pg_attribute a LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE a.attrelid = ANY ($1::oid[]) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attrelid, a.attnum`

const namesOf = (relation: string, numbers: string) =>
  `(SELECT pg_catalog.array_agg(a.attname::text ORDER BY k.position) FROM pg_catalog.unnest(${numbers}) WITH ORDINALITY k(number, position)
    JOIN pg_catalog.pg_attribute a ON a.attrelid = ${relation} AND a.attnum = k.number)`

/** The primary key first, then other unique indexes of columns that are never null. */
const keysSql = `SELECT i.indrelid::text AS table_oid, i.indisprimary AS is_primary, ${namesOf('i.indrelid', '(i.indkey::int2[])[0:i.indnkeyatts - 1]')} AS columns
  FROM pg_catalog.pg_index i
  WHERE i.indrelid = ANY ($1::oid[]) AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_attribute a WHERE a.attrelid = i.indrelid AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1]) AND NOT a.attnotnull)
  ORDER BY i.indisprimary DESC, i.indnkeyatts, i.indexrelid`

const foreignKeysSql = `SELECT o.conrelid::text AS table_oid, o.conname AS name, n.nspname AS schema, c.relname AS "table",
    ${namesOf('o.conrelid', 'o.conkey')} AS columns, ${namesOf('o.confrelid', 'o.confkey')} AS target_columns
  FROM pg_catalog.pg_constraint o JOIN pg_catalog.pg_class c ON c.oid = o.confrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE o.contype = 'f' AND o.conrelid = ANY ($1::oid[]) ORDER BY o.conname`

const formatIndexesSql = (
  definition: string,
) => `SELECT i.indrelid::text AS table_oid, c.relname AS name, ${definition} AS definition, i.indisunique AS is_unique
  FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
  WHERE i.indrelid = ANY ($1::oid[]) ORDER BY i.indisprimary DESC, c.relname`

/** Without sizes while a table is locked exclusively. */
async function readSizes(client: Client, tables: RelationRow[]): Promise<{ table_oid: string; size: string }[]> {
  const read = async () => {
    const { rows } = await client.query<{ table_oid: string; size: string }>(
      `SELECT oid::text AS table_oid, CASE WHEN relkind = 'p'
          THEN (SELECT pg_catalog.sum(pg_catalog.pg_total_relation_size(relid)) FROM pg_catalog.pg_partition_tree(oid))
          ELSE pg_catalog.pg_total_relation_size(oid) END AS size
        FROM pg_catalog.pg_class WHERE oid = ANY ($1::oid[]) AND relkind IN ('r', 'p', 'm')`,
      [tables.map(({ oid }) => oid)],
    )
    return rows.filter(({ size }) => size !== null)
  }
  return unlessLocked(client, read, async () => [])
}

/** The server opens a table for its size, defaults and indexes, and waits while it is locked exclusively. */
async function unlessLocked<T>(client: Client, read: () => Promise<T>, readLess: () => Promise<T>): Promise<T> {
  await client.query("SAVEPOINT unlocked; SET LOCAL lock_timeout = '1s'")
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === '55P03')) throw error
    await client.query('ROLLBACK TO SAVEPOINT unlocked')
    return await readLess()
  }
}
