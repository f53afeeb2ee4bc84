import { ListFilter, X } from 'lucide-react'
import { useState } from 'react'
import type { DatabaseTable, RowFilter } from '../../../server/contract/database-browser.ts'
import { Button } from '../../components/button.tsx'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { filterOperators, operatorLabels } from './table-view.ts'
import styles from './browser.module.css'

export function FilterBar({ table, filters, onChange }: { table: DatabaseTable; filters: RowFilter[]; onChange: (filters: RowFilter[]) => void }) {
  const [column, setColumn] = useState(table.columns[0]?.name ?? '')
  const [op, setOp] = useState<RowFilter['op']>('eq')
  const [value, setValue] = useState('')
  const hasValue = op !== 'is_null' && op !== 'is_not_null'
  return (
    <form
      className={styles.filters}
      onSubmit={(event) => {
        event.preventDefault()
        onChange([...filters, hasValue ? { column, op, value } : { column, op }])
        setValue('')
      }}
    >
      <select className="input select" aria-label="Column" value={column} onChange={({ target }) => setColumn(target.value)}>
        {table.columns.map(({ name }) => (
          <option key={name} value={name}>
            {sanitizeForDisplay(name)}
          </option>
        ))}
      </select>
      <select
        className="input select"
        aria-label="Condition"
        value={op}
        onChange={({ target }) => setOp(filterOperators.find((one) => one === target.value) ?? 'eq')}
      >
        {filterOperators.map((one) => (
          <option key={one} value={one}>
            {operatorLabels[one]}
          </option>
        ))}
      </select>
      {hasValue && (
        <input
          className={`input mono ${styles.filterValue}`}
          aria-label="Value"
          placeholder="Value"
          maxLength={2000}
          value={value}
          onChange={({ target }) => setValue(target.value)}
        />
      )}
      <Button type="submit" icon={ListFilter}>
        Add filter
      </Button>
      {filters.map((filter, index) => (
        <Button
          key={JSON.stringify(filter)}
          icon={X}
          aria-label={`Remove filter ${filter.column}`}
          onClick={() => onChange(filters.filter((_, other) => other !== index))}
        >
          {sanitizeForDisplay(`${filter.column} ${operatorLabels[filter.op]} ${filter.value ?? ''}`)}
        </Button>
      ))}
    </form>
  )
}
