import { ListFilter, Pause, Play } from 'lucide-react'
import { useState } from 'react'
import type { RequestQuery } from '../../api/requests.ts'
import { Button } from '../../components/button.tsx'
import { FilterInput } from '../../components/filter-input.tsx'
import { FilterSelect } from '../../components/filter-select.tsx'
import { cacheChoices, durationChoices, methodChoices, statusChoices, type FilterChange } from './filters.ts'
import { MoreFilters } from './more-filters.tsx'
import styles from './requests.module.css'

const methodLabels = Object.fromEntries(methodChoices.map((method) => [method, method]))

interface Props {
  filters: RequestQuery
  onChange: (next: FilterChange) => void
  isLive: boolean
  /** Null for a time in the past. */
  onToggleLive: (() => void) | null
}

export function FilterFields({ filters, onChange, isLive, onToggleLive }: Props) {
  const status = filters.status ?? ''
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <div className={styles.filters}>
        <FilterInput
          label="Path"
          placeholder="Path, such as /api or *.png"
          className={styles.pathFilter}
          value={filters.path ?? ''}
          onChange={(path) => onChange({ path })}
        />
        <FilterSelect
          label="Status"
          all="Any status"
          value={status}
          choices={status in statusChoices || status === '' ? statusChoices : { [status]: status, ...statusChoices }}
          onChange={(value) => onChange({ status: value })}
        />
        <FilterSelect
          label="Method"
          all="Any method"
          value={filters.method ?? ''}
          choices={methodLabels}
          onChange={(method) => onChange({ method })}
        />
        <FilterSelect
          label="Cache result"
          all="Any cache result"
          value={filters.cache ?? ''}
          choices={cacheChoices}
          onChange={(cache) => onChange({ cache })}
        />
        <FilterSelect
          label="Duration"
          all="Any duration"
          value={filters.min_duration_ms ?? ''}
          choices={durationChoices}
          onChange={(value) => onChange({ min_duration_ms: value })}
        />
        <Button icon={ListFilter} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          More
        </Button>
        {onToggleLive && (
          <Button icon={isLive ? Pause : Play} onClick={onToggleLive}>
            {isLive ? 'Pause' : 'Resume'}
          </Button>
        )}
      </div>
      {isOpen && <MoreFilters onChange={onChange} />}
    </>
  )
}
