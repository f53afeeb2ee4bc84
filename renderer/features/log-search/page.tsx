import { ScrollText, Search } from 'lucide-react'
import { useState } from 'react'
import { type LogSearchQuery, useLogSearch } from '../../api/log-search.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { FilterSelect } from '../../components/filter-select.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { toApiError } from '../../lib/api-error.ts'
import { useDebouncedValue } from '../../lib/use-debounced-value.ts'
import { useQueryParams } from '../../lib/use-query-params.ts'
import { useTitle } from '../../lib/use-title.ts'
import { ProjectFilterSelect } from '../projects/index.ts'
import { FoundLines } from './found-lines.tsx'
import styles from './log-search.module.css'

const levels = { error: 'Errors only', warn: 'Warnings and errors' } as const
const logs = { runtime: 'Runtime logs', build: 'Build logs' } as const
const ranges = { '1': 'Last hour', '24': 'Last 24 hours', '168': 'Last 7 days' } as const

/** The logs of all projects and deployments. The filters are in the address. */
export default function LogSearchPage() {
  useTitle('Logs')
  const { params, change } = useQueryParams()
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
                change({ q: target.value.trim() })
              }}
            />
          </div>
          <ProjectFilterSelect value={project ?? ''} onChange={(value) => change({ project: value })} />
          <FilterSelect label="Log" all="All logs" choices={logs} value={log ?? ''} onChange={(value) => change({ log: value })} />
          <FilterSelect label="Level" all="All levels" choices={levels} value={level ?? ''} onChange={(value) => change({ level: value })} />
          <FilterSelect label="Time" all="Any time" choices={ranges} value={hours ?? ''} onChange={(value) => change({ hours: value })} />
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
