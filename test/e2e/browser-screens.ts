import { expect, type Page } from '@playwright/test'
import type { DatabaseTable, PlanNode, QueryRecord, TableColumn } from '../../server/contract/database-browser.ts'
import type { Database } from '../../server/contract/databases.ts'
import type { Screen } from './screen.ts'

const column = (name: string, type: string, change: Partial<TableColumn> = {}): TableColumn => ({
  name,
  type,
  is_nullable: true,
  default: null,
  is_generated: false,
  enum_values: null,
  ...change,
})

const table = (name: string, change: Partial<DatabaseTable> = {}): DatabaseTable => ({
  schema: 'public',
  name,
  kind: 'table',
  columns: [
    column('id', 'bigint', { is_nullable: false, is_generated: true }),
    column('customer', 'text', { is_nullable: false }),
    column('status', 'order_status', { enum_values: ['new', 'paid', 'shipped'] }),
    column('total', 'numeric(10,2)'),
    column('details', 'jsonb'),
    column('created_at', 'timestamp with time zone', { default: 'now()' }),
  ],
  primary_key: ['id'],
  row_key: ['id'],
  foreign_keys: [],
  indexes: [],
  row_estimate: 48_213,
  size_bytes: 9_437_184,
  ...change,
})

const tables = [
  table('orders'),
  table('customers', { size_bytes: 1_204_224 }),
  table('products', { size_bytes: 262_144 }),
  table('open_orders', { kind: 'view', row_key: [], primary_key: [], size_bytes: null, row_estimate: null }),
  table('events', { schema: 'audit', size_bytes: 73_400_320 }),
]

const columns = tables[0]!.columns.map(({ name, type }) => ({ name, type }))
const customers = ['Ada Lovelace', 'Grace Hopper', 'Katherine Johnson', 'Annie Jean Easley', 'Hedy Lamarr']
const valuesOf = (index: number) => [
  String(4711 - index),
  customers[index % customers.length] ?? '',
  ['new', 'paid', 'shipped'][index % 3] ?? null,
  index % 7 === 3 ? null : `${((index * 137) % 900) + 12}.${String((index * 31) % 100).padStart(2, '0')}`,
  index % 5 === 2
    ? { text: '{"items": [{"sku": "LAMP-1", "count": 2}, {"sku": "ROPE-9"', size_bytes: 48_213 }
    : '{"items": [{"sku": "LAMP-1", "count": 2}]}',
  `2026-11-25 1${index % 10}:04:12.345+00`,
]
const rows = Array.from({ length: 60 }, (_, index) => ({ key: [String(4711 - index)], values: valuesOf(index) }))

const plan: PlanNode = {
  type: 'Sort',
  relation: null,
  details: { 'Sort Key': 'orders.created_at' },
  startup_cost: 810.2,
  total_cost: 845.7,
  plan_rows: 312,
  actual_ms: 31.4,
  actual_rows: 298,
  loops: 1,
  children: [
    {
      type: 'Seq Scan',
      relation: 'orders',
      details: { Filter: "(customer ~~ '%Ada%'::text)", 'Rows Removed by Filter': '47915' },
      startup_cost: 0,
      total_cost: 802.1,
      plan_rows: 312,
      actual_ms: 28.9,
      actual_rows: 298,
      loops: 1,
      children: [],
    },
  ],
}

const database: Database = {
  db_name: 'p_lighthouse',
  db_user: 'p_lighthouse',
  password: 'secret',
  host: '127.0.0.1',
  port: 5432,
  connection_string: 'postgresql://p_lighthouse:secret@127.0.0.1:5432/p_lighthouse',
  engine: 'postgresql',
  engine_version: '18.4',
  size_bytes: 7_900_000,
  created_at: '2026-11-01T08:00:00.000Z',
}

async function withDatabase(page: Page, found: DatabaseTable[] = tables): Promise<void> {
  await page.route('**/instance/projects/lighthouse/database', (route) => route.fulfill({ json: { database, unavailable: null } }))
  await page.route('**/database/schema', (route) => route.fulfill({ json: { tables: found, is_truncated: false } }))
  await page.route('**/database/rows?*', (route) => {
    const isOne = new URL(route.request().url()).searchParams.get('limit') === '1'
    return route.fulfill({ json: { columns, row_key: ['id'], rows: isOne ? rows.slice(0, 1) : rows, next_cursor: isOne ? null : 'more' } })
  })
  await page.route('**/database/changes', (route) =>
    route.fulfill({
      json: { statements: [`UPDATE "public"."orders" SET "status" = 'paid' WHERE "id" = 4711 AND "status" = 'new'`], applied: false },
    }),
  )
  await page.route('**/database/explain', (route) => route.fulfill({ json: { plan, planning_ms: 0.4, execution_ms: 31.6 } }))
}

const withAnswer =
  (...records: QueryRecord[]) =>
  async (page: Page) => {
    await withDatabase(page)
    await page.route('**/database/queries', (route) =>
      route.fulfill({ contentType: 'application/x-ndjson', body: records.map((record) => `${JSON.stringify(record)}\n`).join('') }),
    )
  }

const done: QueryRecord = { type: 'done', command: 'SELECT', row_count: 60, truncated: null, duration_ms: 12.4, notices: [] }
const found: QueryRecord[] = [{ type: 'columns', columns }, { type: 'rows', rows: rows.map(({ values }) => values) }, done]
const wrong: QueryRecord = {
  type: 'error',
  error: {
    code: '42703',
    message: 'column "custmer" does not exist',
    detail: null,
    hint: 'Perhaps you meant to reference the column "orders.customer".',
    position: 8,
    line: 1,
    column: 8,
  },
  duration_ms: 3.1,
  notices: [],
}

async function type(page: Page, sql: string): Promise<void> {
  await page.locator('.cm-content').click()
  // The last statement may still be there.
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type(sql)
  await page.keyboard.press('Escape')
}

const tablesPath = 'projects/lighthouse/database/tables'
const sqlPath = 'projects/lighthouse/database/sql'

export const browserScreens: Screen[] = [
  {
    name: 'tables',
    path: tablesPath,
    before: withDatabase,
    act: (page) => expect(page.getByRole('table', { name: 'Rows of orders' })).toBeVisible(),
  },
  {
    name: 'tables-empty',
    path: tablesPath,
    before: (page) => withDatabase(page, []),
    act: (page) => expect(page.getByText('No tables')).toBeVisible(),
  },
  { name: 'tables-none', path: 'projects/chart-room/database/tables', act: (page) => expect(page.getByText('No database')).toBeVisible() },
  {
    name: 'tables-row',
    path: tablesPath,
    before: withDatabase,
    async act(page) {
      await page.getByRole('button', { name: /^Edit row 1:/ }).click()
      await expect(page.getByRole('combobox', { name: 'status' })).toBeVisible()
    },
  },
  {
    name: 'tables-row-sql',
    path: tablesPath,
    before: withDatabase,
    async act(page) {
      await page.getByRole('button', { name: /^Edit row 1:/ }).click()
      await page.getByRole('combobox', { name: 'status' }).selectOption('paid')
      await page.getByRole('button', { name: 'Show SQL…' }).click()
      await expect(page.getByText('UPDATE "public"."orders"')).toBeVisible()
    },
  },
  {
    name: 'sql',
    path: sqlPath,
    before: withAnswer(...found),
    async act(page) {
      await type(page, "SELECT * FROM orders WHERE customer LIKE '%Ada%' ORDER BY created_at")
      await page.keyboard.press('Control+Enter')
      await expect(page.getByText(/60 rows in/)).toBeVisible()
    },
  },
  {
    name: 'sql-error',
    path: sqlPath,
    before: withAnswer(wrong),
    async act(page) {
      await type(page, 'SELECT custmer FROM orders')
      await page.getByRole('switch', { name: 'Allow changes' }).click()
      await page.getByRole('button', { name: 'Run and change data' }).click()
      await expect(page.getByText('Line 1, column 8')).toBeVisible()
    },
  },
  {
    name: 'sql-plan',
    path: sqlPath,
    before: withDatabase,
    async act(page) {
      await type(page, "SELECT * FROM orders WHERE customer LIKE '%Ada%' ORDER BY created_at")
      await page.getByRole('button', { name: 'Explain and run' }).click()
      await expect(page.getByRole('region', { name: 'Plan' })).toBeVisible()
    },
  },
]
