import { Plus, RotateCw, Table2 } from 'lucide-react'
import { useMemo, useState } from 'react'
import { Link } from 'wouter'
import type { DatabaseTable } from '../../../server/contract/database-browser.ts'
import { useDatabaseSchema, useRefetchRows, useTableRows } from '../../api/database-browser.ts'
import { useProject } from '../../api/projects.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { toApiError } from '../../lib/api-error.ts'
import { useQueryParams } from '../../lib/use-query-params.ts'
import { useTitle } from '../../lib/use-title.ts'
import { FilterBar } from './filter-bar.tsx'
import { DatabaseMissing } from './no-database.tsx'
import { RowDialog } from './row-dialog.tsx'
import { RowGrid } from './row-grid.tsx'
import { formatFilters, parseTableView } from './table-view.ts'
import { TableList, tableId } from './table-list.tsx'
import styles from './browser.module.css'

/** The tables of a project's database and their rows. */
export default function TablesPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  useTitle(`Tables · ${project?.name ?? slug}`)
  const { data, error, refetch } = useDatabaseSchema(slug)
  const { params, change, replace } = useQueryParams()
  if (!data) return <DatabaseMissing slug={slug} isMissing={data === null} error={error} onRetry={() => void refetch()} />
  if (data.tables.length === 0)
    return (
      <div className="card">
        <EmptyState icon={Table2} title="No tables" action={<Link href={`/projects/${slug}/database/sql`}>Open SQL</Link>}>
          The database is empty. Tables appear here when the app or a statement creates them.
        </EmptyState>
      </div>
    )
  const selected = data.tables.find((table) => tableId(table) === params.get('table')) ?? data.tables[0]
  return (
    <div className={styles.browser}>
      <TableList tables={data.tables} selected={selected} onSelect={(table) => replace({ table: tableId(table) })} />
      {selected && <TableView key={tableId(selected)} slug={slug} table={selected} params={params} onChange={change} />}
    </div>
  )
}

interface TableViewProps {
  slug: string
  table: DatabaseTable
  params: URLSearchParams
  onChange: (next: { filter?: string; order?: string }) => void
}

function TableView({ slug, table, params, onChange }: TableViewProps) {
  const { filters, order } = useMemo(() => parseTableView(params, table), [params, table])
  const [opened, setOpened] = useState<{ key: string[] | null; column?: string } | null>(null)
  const { data, error, hasNextPage, fetchNextPage, isFetching, isFetchingNextPage } = useTableRows(slug, {
    schema: table.schema,
    table: table.name,
    filters,
    order,
  })
  const refetch = useRefetchRows(slug)
  const rows = useMemo(() => data?.pages.flatMap((page) => page.rows) ?? [], [data])
  const values = useMemo(() => rows.map((row) => row.values), [rows])
  const columns = data?.pages[0]?.columns ?? table.columns
  const canEdit = table.row_key.length > 0
  const sort = (column: string) => onChange({ order: order === column ? `-${column}` : order === `-${column}` ? '' : column })
  return (
    <section className={`stack ${styles.main}`} aria-label={table.name}>
      <div className={styles.toolbar}>
        <FilterBar table={table} filters={filters} onChange={(next) => onChange({ filter: formatFilters(next) })} />
        <div className="row">
          <IconButton icon={RotateCw} label="Reload rows" disabled={isFetching && !isFetchingNextPage} onClick={refetch} />
          {table.kind.endsWith('table') && (
            <Button icon={Plus} onClick={() => setOpened({ key: null })}>
              Add row
            </Button>
          )}
        </div>
      </div>
      {error && <ProblemView problem={toApiError(error)} onRetry={refetch} />}
      {!data && !error && (
        <div className="card">
          <SkeletonRows rows={12} height={32} />
        </div>
      )}
      {data && rows.length === 0 && (
        <div className="card">
          <EmptyState icon={Table2} title={filters.length > 0 ? 'No rows match' : 'No rows'}>
            {filters.length > 0 ? 'Remove a filter to see more rows.' : 'Rows appear here when the app writes them.'}
          </EmptyState>
        </div>
      )}
      {rows.length > 0 && (
        <RowGrid
          label={`Rows of ${table.name}`}
          columns={columns}
          rows={values}
          order={order}
          onSort={sort}
          {...(canEdit ? { onOpen: (index: number, column: string) => setOpened({ key: rows[index]?.key ?? null, column }) } : {})}
          onEndReached={() => {
            if (hasNextPage && !isFetchingNextPage && !error) void fetchNextPage()
          }}
        />
      )}
      {data && (
        <p className={`text-subtle ${styles.foot}`} role="status">
          {`${rows.length.toLocaleString()} ${rows.length === 1 ? 'row' : 'rows'}${hasNextPage ? '; scroll to load more' : ''}`}
          {table.row_estimate !== null && hasNextPage && ` of about ${table.row_estimate.toLocaleString()}`}
          {!canEdit && ' · Rows cannot be edited here, because there is no primary key.'} <HelpLink topic="databases">About the browser</HelpLink>
        </p>
      )}
      {opened && <RowDialog slug={slug} table={table} row_key={opened.key} column={opened.column} onClose={() => setOpened(null)} />}
    </section>
  )
}
