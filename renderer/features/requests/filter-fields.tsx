import { ListFilter, Pause, Play } from 'lucide-react'
import { useState } from 'react'
import type { RequestQuery } from '../../api/requests.ts'
import { Button } from '../../components/button.tsx'
import { cacheChoices, durationChoices, methodChoices, statusChoices, type FilterChange } from './filters.ts'
import { MoreFilters } from './more-filters.tsx'
import styles from './requests.module.css'

interface Props {
  filters: RequestQuery
  onChange: (next: FilterChange) => void
  isLive: boolean
  /** Null for a time in the past. */
  onToggleLive: (() => void) | null
}

export function FilterFields({ filters, onChange, isLive, onToggleLive }: Props) {
  const status = filters.status ?? ''
  const hasOwnStatus = statusChoices.some(([value]) => value === status)
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <div className={styles.filters}>
        <input
          key={filters.path ?? ''}
          className={`input mono ${styles.pathFilter}`}
          type="search"
          aria-label="Path"
          maxLength={200}
          placeholder="Path, such as /api or *.png"
          defaultValue={filters.path ?? ''}
          onBlur={({ target }) => target.value.trim() !== (filters.path ?? '') && onChange({ path: target.value.trim() })}
          onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
        />
        <select className="input select" aria-label="Status" value={status} onChange={({ target }) => onChange({ status: target.value })}>
          {!hasOwnStatus && <option value={status}>{status}</option>}
          <Choices choices={statusChoices} />
        </select>
        <select
          className="input select"
          aria-label="Method"
          value={filters.method ?? ''}
          onChange={({ target }) => onChange({ method: target.value })}
        >
          <Choices choices={[['', 'Any method'], ...methodChoices.map((method) => [method, method] as const)]} />
        </select>
        <select
          className="input select"
          aria-label="Cache result"
          value={filters.cache ?? ''}
          onChange={({ target }) => onChange({ cache: target.value })}
        >
          <Choices choices={cacheChoices} />
        </select>
        <select
          className="input select"
          aria-label="Duration"
          value={filters.min_duration_ms ?? ''}
          onChange={({ target }) => onChange({ min_duration_ms: target.value })}
        >
          <Choices choices={durationChoices} />
        </select>
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

function Choices({ choices }: { choices: readonly (readonly [value: string, text: string])[] }) {
  return choices.map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ))
}
