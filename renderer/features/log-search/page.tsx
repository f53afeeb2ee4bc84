import { ScrollText, Search } from 'lucide-react'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { type LogSearchQuery, useLogSearch } from '../../api/log-search.ts'
import { useProjects } from '../../api/projects.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { toApiError } from '../../lib/api-error.ts'
import { useDebouncedValue } from '../../lib/use-debounced-value.ts'
import { useTitle } from '../../lib/use-title.ts'
import { FoundLines } from './found-lines.tsx'
import styles from './log-search.module.css'

const levels = { error: 'Errors only', warn: 'Warnings and errors' } as const
const logs = { runtime: 'Runtime logs', build: 'Build logs' } as const
const ranges = { '1': 'Last hour', '24': 'Last 24 hours', '168': 'Last 7 days' } as const

/** The logs of all projects and deployments. The filters are in the address. */
export default function LogSearchPage() {
  useTitle('Logs')
  const [params, setParams] = useSearchParams()
  const [text, setText] = useState(params.get('q') ?? '')
  const query = useDebouncedValue(text.trim())
  const read = <Value extends string>(name: string, choices: Readonly<Record<Value, string>>) =>
    (Object.keys(choices) as Value[]).find((choice) => choice === params.get(name))
  const hours = read('hours', ranges)
  const since = useSince(hours)
  const [level, log, project] = [read('level', levels), read('log', logs), params.get('project')]
  const filters: LogSearchQuery = {
    ...(query !== '' && { query }),
    ...(level && { level }),
    ...(log && { log }),
    ...(since && { since }),
    ...(project && { project }),
  }
  const set = (name: string, value: string) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before)
        if (value === '') next.delete(name)
        else next.set(name, value)
        return next
      },
      { replace: true },
    )
  return (
    <div className="page">
      <div className="page-header">
        <h1>Logs</h1>
      </div>
      <div className="stack">
        <div className={styles.filters}>
          <div className="search">
            <Search size={14} aria-hidden />
            <input
              className="input"
              type="search"
              placeholder="Words, or “text in quotes”"
              aria-label="Search all logs"
              maxLength={200}
              value={text}
              onChange={({ target }) => {
                setText(target.value)
                set('q', target.value.trim())
              }}
            />
          </div>
          <ProjectSelect value={project ?? ''} onChange={(value) => set('project', value)} />
          <Select label="Log" all="All logs" choices={logs} value={log ?? ''} onChange={(value) => set('log', value)} />
          <Select label="Level" all="All levels" choices={levels} value={level ?? ''} onChange={(value) => set('level', value)} />
          <Select label="Time" all="Any time" choices={ranges} value={hours ?? ''} onChange={(value) => set('hours', value)} />
        </div>
        <Results filters={filters} words={query} />
        <p className="text-subtle">
          <HelpLink topic="logs">How logs are searched and kept</HelpLink>
        </p>
      </div>
    </div>
  )
}

/** The start of a range. It stays until the range changes, so that the pages of one search fit together. */
function useSince(hours: string | undefined): string | undefined {
  const [start, setStart] = useState({ hours, since: toSince(hours) })
  if (start.hours === hours) return start.since
  setStart({ hours, since: toSince(hours) })
  return undefined
}
const toSince = (hours: string | undefined) => (hours === undefined ? undefined : new Date(Date.now() - Number(hours) * 3_600_000).toISOString())

function Results({ filters, words }: { filters: LogSearchQuery; words: string }) {
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useLogSearch(filters)
  const lines = data?.pages.flatMap((page) => page.lines) ?? []
  const isFiltered = Object.keys(filters).length > 0
  return (
    <>
      {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      <section className="card" aria-label="Lines" hidden={error !== null && !data}>
        {isPending && <SkeletonRows rows={10} height={48} />}
        {lines.length > 0 && <FoundLines lines={lines} words={words} />}
        {data && lines.length === 0 && (
          <EmptyState icon={ScrollText} title={hasNextPage ? 'No line so far' : isFiltered ? 'No lines match' : 'No output yet'}>
            {hasNextPage
              ? 'Older parts of the logs have not been searched yet.'
              : isFiltered
                ? 'A word is found at its start. Try fewer words, or clear a filter.'
                : 'The output of your apps and builds appears here.'}
          </EmptyState>
        )}
        {hasNextPage && (
          <footer className={styles.foot}>
            <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
              Search older lines
            </Button>
          </footer>
        )}
      </section>
    </>
  )
}

function ProjectSelect({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const { data } = useProjects()
  const names = Object.fromEntries((data?.pages.flatMap((page) => page.projects) ?? []).map(({ slug, name }) => [slug, name]))
  return <Select label="Project" all="All projects" value={value} choices={value === '' ? names : { [value]: value, ...names }} onChange={onChange} />
}

interface SelectProps {
  label: string
  all: string
  value: string
  choices: Readonly<Record<string, string>>
  onChange: (value: string) => void
}

function Select({ label, all, value, choices, onChange }: SelectProps) {
  return (
    <select className="input select" aria-label={label} value={value} onChange={({ target }) => onChange(target.value)}>
      <option value="">{all}</option>
      {Object.entries(choices).map(([choice, text]) => (
        <option key={choice} value={choice}>
          {text}
        </option>
      ))}
    </select>
  )
}
