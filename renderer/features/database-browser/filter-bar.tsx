import { ListFilter, X } from 'lucide-react'
import type { DatabaseTable, RowFilter } from '../../../server/contract/database-browser.ts'
import { Button } from '../../components/button.tsx'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { useForm } from '../../lib/use-form.ts'
import { filterOperators, operatorLabels } from './table-view.ts'
import styles from './browser.module.css'

export function FilterBar({ table, filters, onChange }: { table: DatabaseTable; filters: RowFilter[]; onChange: (filters: RowFilter[]) => void }) {
  const initial: Required<RowFilter> = { column: table.columns[0]?.name ?? '', op: 'eq', value: '' }
  const takesValue = (op: RowFilter['op']) => op !== 'is_null' && op !== 'is_not_null'
  const { values, set, props } = useForm({
    initial,
    onSubmit({ column, op, value }) {
      onChange([...filters, takesValue(op) ? { column, op, value } : { column, op }])
      set({ value: '' })
    },
  })
  return (
    <form className={styles.filters} {...props}>
      <select className="input select" aria-label="Column" value={values.column} onChange={({ target }) => set({ column: target.value })}>
        {table.columns.map(({ name }) => (
          <option key={name} value={name}>
            {sanitizeForDisplay(name)}
          </option>
        ))}
      </select>
      <select
        className="input select"
        aria-label="Condition"
        value={values.op}
        onChange={({ target }) => set({ op: filterOperators.find((one) => one === target.value) ?? 'eq' })}
      >
        {filterOperators.map((one) => (
          <option key={one} value={one}>
            {operatorLabels[one]}
          </option>
        ))}
      </select>
      {takesValue(values.op) && (
        <input
          className={`input mono ${styles.filterValue}`}
          aria-label="Value"
          placeholder="Value"
          maxLength={2000}
          value={values.value}
          onChange={({ target }) => set({ value: target.value })}
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
