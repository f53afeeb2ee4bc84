import { ListFilter } from 'lucide-react'
import { Button } from '../../components/button.tsx'
import { useForm } from '../../lib/use-form.ts'
import { type AddedFilter, addedFilters, type FilterChange, filterPatterns } from './filters.ts'
import styles from './requests.module.css'

const names = Object.keys(addedFilters) as AddedFilter[]

/** Adds a filter of any field. Its button among the filters removes it. */
export function MoreFilters({ onChange }: { onChange: (next: FilterChange) => void }) {
  const initial: { name: AddedFilter; value: string } = { name: 'user_agent', value: '' }
  const { values, set, props } = useForm({
    initial,
    onSubmit({ name, value }) {
      onChange({ [name]: value.trim() })
      set({ value: '' })
    },
  })
  const { hint } = addedFilters[values.name]
  return (
    <form className={styles.filters} aria-label="More filters" {...props}>
      <select
        className="input select"
        aria-label="Field"
        value={values.name}
        onChange={({ target }) => set({ name: names.find((one) => one === target.value) ?? values.name })}
      >
        {names.map((one) => (
          <option key={one} value={one}>
            {addedFilters[one].label}
          </option>
        ))}
      </select>
      <input
        className={`input mono ${styles.pathFilter}`}
        aria-label="Value"
        required
        placeholder={hint}
        title={`Such as ${hint}`}
        pattern={`\\s*(?:${filterPatterns[values.name].source.slice(1, -1)})\\s*`}
        value={values.value}
        onChange={({ target }) => set({ value: target.value })}
      />
      <Button type="submit" icon={ListFilter}>
        Add filter
      </Button>
    </form>
  )
}
