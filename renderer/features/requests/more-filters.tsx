import { ListFilter } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { type AddedFilter, addedFilters, type FilterChange, filterPatterns } from './filters.ts'
import styles from './requests.module.css'

const names = Object.keys(addedFilters) as AddedFilter[]

/** Adds a filter of any field. Its button among the filters removes it. */
export function MoreFilters({ onChange }: { onChange: (next: FilterChange) => void }) {
  const [name, setName] = useState<AddedFilter>('user_agent')
  const [value, setValue] = useState('')
  const { hint } = addedFilters[name]
  return (
    <form
      className={styles.filters}
      aria-label="More filters"
      onSubmit={(event) => {
        event.preventDefault()
        onChange({ [name]: value.trim() })
        setValue('')
      }}
    >
      <select
        className="input select"
        aria-label="Field"
        value={name}
        onChange={({ target }) => setName(names.find((one) => one === target.value) ?? name)}
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
        pattern={`\\s*(?:${filterPatterns[name].source.slice(1, -1)})\\s*`}
        value={value}
        onChange={({ target }) => setValue(target.value)}
      />
      <Button type="submit" icon={ListFilter}>
        Add filter
      </Button>
    </form>
  )
}
