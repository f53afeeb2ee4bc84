import { z } from 'zod'
import { databaseDump } from './databases.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { branchName, projectIdParams, projectParams } from './shared.ts'

const { timeout_ms, rows, page_rows, value_characters, sql_characters, changes, name_characters } = limits.database_query

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `Use a whole number from ${min} to ${max}.`)
    .transform(Number)
    .pipe(z.number().int().min(min).max(max))

const branch = branchName.optional().describe('The database of this preview instead of the project’s own.')
const branchQuery = z.object({ branch })

/** A value. Only types without loss are JSON numbers; `bigint`, `numeric` and all others are the text of PostgreSQL, and `bytea` is `\x` with hex digits. */
export const databaseCell = z
  .union([z.null(), z.boolean(), z.number(), z.string(), z.object({ text: z.string(), size_bytes: z.number() })])
  .describe('Numbers that JSON cannot hold are texts; a large value is its beginning with its size.')
export type DatabaseCell = z.output<typeof databaseCell>

const column = z.object({ name: z.string(), type: z.string() })
export type ResultColumn = z.output<typeof column>

const tableColumn = column.extend({
  is_nullable: z.boolean(),
  default: z.string().nullable(),
  is_generated: z.boolean().describe('Its value is computed or always an identity, so that it cannot be set.'),
  enum_values: z.array(z.string()).nullable(),
})
export type TableColumn = z.output<typeof tableColumn>

const databaseTable = z.object({
  schema: z.string(),
  name: z.string(),
  kind: z.enum(['table', 'partitioned_table', 'view', 'materialized_view', 'foreign_table']),
  columns: z.array(tableColumn),
  primary_key: z.array(z.string()).describe('Empty without one.'),
  row_key: z.array(z.string()).describe('The primary key, else a unique index without nulls. Empty: rows cannot be changed by the browser.'),
  foreign_keys: z.array(
    z.object({
      name: z.string(),
      columns: z.array(z.string()),
      schema: z.string(),
      table: z.string(),
      target_columns: z.array(z.string()),
    }),
  ),
  indexes: z.array(z.object({ name: z.string(), definition: z.string(), is_unique: z.boolean() })),
  row_estimate: z.number().nullable().describe('As of the last ANALYZE; null before.'),
  size_bytes: z.number().nullable().describe('With indexes; null while the table is locked.'),
})
export type DatabaseTable = z.output<typeof databaseTable>

export const filterOperators = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'contains', 'starts_with', 'is_null', 'is_not_null'] as const
const name = z.string().min(1).max(name_characters)
const value = z.union([z.string().max(value_characters.max), z.number(), z.boolean(), z.null()])

const rowFilters = z.array(z.object({ column: name, op: z.enum(filterOperators), value: z.string().max(2000).optional() })).max(20)
export type RowFilter = z.output<typeof rowFilters>[number]

/** JSON in a query parameter. */
const filterQuery = z
  .string()
  .max(6000)
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown
    } catch {
      context.addIssue({ code: 'custom', message: 'Use a JSON array of filters.' })
      return z.NEVER
    }
  })
  .pipe(rowFilters)

const tableRow = z.object({
  key: z.array(z.string()).nullable().describe('The values of `row_key` as texts; null without a key.'),
  values: z.array(databaseCell),
})
export type TableRow = z.output<typeof tableRow>

const values = z.record(name, value)
const target = { schema: name, table: name }
const rowChange = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('insert'), ...target, values }),
  z.object({
    kind: z.literal('update'),
    ...target,
    key: values.describe('The values of `row_key`.'),
    values,
    expected: values.optional().describe('Values that the row must still have.'),
  }),
  z.object({ kind: z.literal('delete'), ...target, key: values }),
])
export type RowChange = z.output<typeof rowChange>

const sql = z.string().min(1).max(sql_characters)

/** The error of a statement. `position`, `line` and `column` count from 1. */
export const queryError = z.object({
  code: z.string().describe('SQLSTATE, such as 42P01.'),
  message: z.string(),
  detail: z.string().nullable(),
  hint: z.string().nullable(),
  position: z.number().nullable(),
  line: z.number().nullable(),
  column: z.number().nullable(),
})
export type QueryError = z.output<typeof queryError>

/** One line of the response of `queryDatabase`. The last one is `done` or `error`. */
export const queryRecord = z.discriminatedUnion('type', [
  z.object({ type: z.literal('snapshot'), dump: databaseDump }),
  z.object({ type: z.literal('columns'), columns: z.array(column) }),
  z.object({ type: z.literal('rows'), rows: z.array(z.array(databaseCell)) }),
  z.object({
    type: z.literal('done'),
    command: z.string().describe('Such as `SELECT` or `UPDATE`.'),
    row_count: z.number().nullable().describe('Rows that were returned or changed.'),
    truncated: z.enum(['rows', 'bytes']).nullable(),
    duration_ms: z.number(),
    notices: z.array(z.string()),
  }),
  z.object({ type: z.literal('error'), error: queryError, duration_ms: z.number(), notices: z.array(z.string()) }),
])
export type QueryRecord = z.output<typeof queryRecord>

export interface PlanNode {
  type: string
  relation: string | null
  /** Conditions, sort keys and the like, as PostgreSQL names them. */
  details: Record<string, string>
  startup_cost: number
  total_cost: number
  plan_rows: number
  /** Of all loops; null without ANALYZE. */
  actual_ms: number | null
  actual_rows: number | null
  loops: number | null
  children: PlanNode[]
}

const planNode: z.ZodType<PlanNode> = z.object({
  type: z.string(),
  relation: z.string().nullable(),
  details: z.record(z.string(), z.string()),
  startup_cost: z.number(),
  total_cost: z.number(),
  plan_rows: z.number(),
  actual_ms: z.number().nullable(),
  actual_rows: z.number().nullable(),
  loops: z.number().nullable(),
  get children() {
    return z.array(planNode)
  },
})

const errors = ['project_not_found', 'database_not_found', 'database_unavailable'] as const

/** The content of a project’s PostgreSQL database, always as the role of the project. */
export const databaseBrowserOperations = {
  describeDatabase: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/database/schema',
    resource: 'project',
    group: 'Instance',
    summary: 'Describe the tables and views of a project’s database',
    description: 'Columns, keys, indexes, estimated rows and sizes, without data. Partitions are part of their table.',
    access: 'caller',
    params: projectParams,
    query: branchQuery,
    success: { status: 200, json: z.object({ tables: z.array(databaseTable), is_truncated: z.boolean() }) },
    errors: [...errors, 'query_failed'],
  }),
  listDatabaseRows: operation({
    method: 'GET',
    path: '/instance/projects/{slug}/database/rows',
    resource: 'project',
    group: 'Instance',
    summary: 'List rows of a table or view',
    description:
      'Pages are by keyset over the order and `row_key`, so that every page costs the same and rows written between two pages neither repeat nor hide others. Without a key, pages are by offset.',
    access: 'caller',
    scope: 'admin',
    params: projectParams,
    query: z.object({
      branch,
      schema: name.optional().describe('Default: `public`.'),
      table: name,
      filter: filterQuery.optional().describe('JSON: `[{"column": "id", "op": "eq", "value": "3"}]`. Operators: ' + filterOperators.join(', ') + '.'),
      order: name.optional().describe('A column; with `-` before it, descending.'),
      cursor: z.string().min(1).max(6000).optional(),
      limit: wholeNumber(1, page_rows.max).optional().meta({ default: page_rows.default }),
      value_characters: wholeNumber(1, value_characters.max)
        .optional()
        .describe('Characters of a value before it is cut.')
        .meta({ default: value_characters.default }),
    }),
    success: {
      status: 200,
      json: z.object({
        columns: z.array(column),
        row_key: z.array(z.string()),
        rows: z.array(tableRow),
        next_cursor: z.string().nullable(),
      }),
    },
    errors: ['invalid_input', ...errors, 'table_not_found', 'query_failed'],
  }),
  queryDatabase: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/database/queries',
    resource: 'project',
    group: 'Instance',
    summary: 'Run one SQL statement',
    description:
      'As the role of the project, in a read-only transaction unless `read_only` is false. The response has one JSON object per line: `columns`, `rows` with up to 500 rows, and `done` or `error` as the last one. Before a statement that deletes or replaces data, a small database is dumped first (`snapshot`).',
    access: 'caller',
    scope: 'admin',
    params: projectParams,
    query: branchQuery,
    body: z.strictObject({
      sql,
      id: z
        .string()
        .regex(/^[\w-]{8,64}$/, 'Use 8 to 64 letters, digits, hyphens and underscores.')
        .optional()
        .describe('For `cancelDatabaseQuery`. Each ID runs once.'),
      read_only: z.boolean().default(true),
      snapshot: z.boolean().default(true).describe('Dump a small database before a destructive statement.'),
      timeout_ms: z.number().int().min(timeout_ms.min).max(timeout_ms.max).default(timeout_ms.default),
      max_rows: z.number().int().min(1).max(rows.max).default(rows.default),
    }),
    success: { status: 200, content_type: 'application/x-ndjson', is_stream: true },
    errors: ['invalid_input', ...errors, 'idempotency_conflict', 'too_many_queries', 'storage_full'],
  }),
  cancelDatabaseQuery: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/database/queries/{id}/cancel',
    resource: 'project',
    group: 'Instance',
    summary: 'Cancel a running statement',
    access: 'caller',
    params: projectIdParams,
    query: z.object({}),
    success: { status: 204 },
    errors: ['project_not_found', 'query_not_found'],
  }),
  explainDatabaseQuery: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/database/explain',
    resource: 'project',
    group: 'Instance',
    summary: 'Show the plan of a statement',
    description: '`analyze` also runs it: in a read-only transaction, or, with `read_only` false, in one that is rolled back.',
    access: 'caller',
    params: projectParams,
    query: branchQuery,
    body: z.strictObject({ sql, analyze: z.boolean().default(false), read_only: z.boolean().default(true) }),
    is_slow: true,
    success: {
      status: 200,
      json: z.object({ plan: planNode, planning_ms: z.number().nullable(), execution_ms: z.number().nullable() }),
    },
    errors: ['invalid_input', ...errors, 'query_failed', 'too_many_queries'],
  }),
  changeDatabaseRows: operation({
    method: 'POST',
    path: '/instance/projects/{slug}/database/changes',
    resource: 'project',
    group: 'Instance',
    summary: 'Insert, update or delete rows by their key',
    description:
      'One transaction. Each statement has to change exactly one row, otherwise nothing changes (409 `row_changed`). `preview` returns the SQL and changes nothing.',
    access: 'caller',
    params: projectParams,
    query: branchQuery,
    body: z.strictObject({ changes: z.array(rowChange).min(1).max(changes), preview: z.boolean().default(false) }),
    success: { status: 200, json: z.object({ statements: z.array(z.string()), applied: z.boolean() }) },
    errors: ['invalid_input', ...errors, 'table_not_found', 'query_failed', 'row_changed'],
  }),
}
