import { Eye, Table2 } from 'lucide-react'
import { useState } from 'react'
import type { DatabaseTable } from '../../../server/contract/database-browser.ts'
import { formatBytes } from '../../lib/format.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import styles from './browser.module.css'

interface Props {
  tables: readonly DatabaseTable[]
  selected: DatabaseTable | undefined
  onSelect: (table: DatabaseTable) => void
}

export const tableId = ({ schema, name }: Pick<DatabaseTable, 'schema' | 'name'>): string => JSON.stringify([schema, name])

/** The tables and views by schema; on a narrow screen a select. */
export function TableList({ tables, selected, onSelect }: Props) {
  const [search, setSearch] = useState('')
  const schemas = Map.groupBy(tables, ({ schema }) => schema)
  const words = search.toLowerCase()
  return (
    <>
      <select
        className={`input select ${styles.tableSelect}`}
        aria-label="Table"
        value={selected ? tableId(selected) : ''}
        onChange={({ target }) => {
          const table = tables.find((one) => tableId(one) === target.value)
          if (table) onSelect(table)
        }}
      >
        {[...schemas].map(([schema, list]) => (
          <optgroup key={schema} label={sanitizeForDisplay(schema)}>
            {list.map((table) => (
              <option key={table.name} value={tableId(table)}>
                {sanitizeForDisplay(table.name)}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
      <nav className={styles.tree} aria-label="Tables">
        {tables.length > 8 && (
          <input
            className="input"
            type="search"
            aria-label="Find table"
            placeholder="Find table"
            value={search}
            onChange={({ target }) => setSearch(target.value)}
          />
        )}
        {[...schemas].map(([schema, list]) => (
          <section key={schema} aria-label={sanitizeForDisplay(schema)}>
            <h2 className={styles.schema}>{sanitizeForDisplay(schema)}</h2>
            <ul>
              {list
                .filter(({ name }) => name.toLowerCase().includes(words))
                .map((table) => (
                  <li key={table.name}>
                    <button
                      type="button"
                      className={styles.treeItem}
                      aria-current={selected && tableId(selected) === tableId(table) ? 'true' : undefined}
                      onClick={() => onSelect(table)}
                    >
                      {table.kind.endsWith('view') ? <Eye size={14} aria-label="View" /> : <Table2 size={14} aria-hidden />}
                      <span className="truncate">{sanitizeForDisplay(table.name)}</span>
                      {table.size_bytes !== null && <span className="text-subtle">{formatBytes(table.size_bytes)}</span>}
                    </button>
                  </li>
                ))}
            </ul>
          </section>
        ))}
      </nav>
    </>
  )
}
