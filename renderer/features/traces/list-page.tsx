import { Waypoints } from 'lucide-react'
import { type ReactNode, useMemo } from 'react'
import { Link } from 'wouter'
import { ApiError } from '../../../server/client/api-error.ts'
import { useCapabilities } from '../../api/capabilities.ts'
import { useProject } from '../../api/projects.ts'
import { type TraceQuery, useTraces } from '../../api/traces.ts'
import { virtualRowHeight } from '../../components/virtual-list.tsx'
import { Button } from '../../components/button.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { FilterInput } from '../../components/filter-input.tsx'
import { FilterSelect } from '../../components/filter-select.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { toApiError } from '../../lib/api-error.ts'
import { useQueryParams } from '../../lib/use-query-params.ts'
import { useTitle } from '../../lib/use-title.ts'
import { durationChoices, statusChoices } from '../requests/index.ts'
import { parseTraceFilters, type TraceFilterChange } from './filters.ts'
import { TraceList } from './trace-list.tsx'
import styles from './traces.module.css'

/** The traces that the apps of a project sent. */
export default function TracesPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  useTitle(`Traces · ${project?.name ?? slug}`)
  const { is_known, has_instance_api } = useCapabilities()
  return (
    <div className="stack">
      {is_known && !has_instance_api ? (
        <NoTracing>Hosted accounts have no traces. Homeport on your own machine has them.</NoTracing>
      ) : (
        <Traces slug={slug} />
      )}
    </div>
  )
}

function NoTracing({ children }: { children: ReactNode }) {
  return (
    <div className="card">
      <EmptyState icon={Waypoints} title="No traces">
        {children}
      </EmptyState>
    </div>
  )
}

function Traces({ slug }: { slug: string }) {
  const { params, change, clear } = useQueryParams()
  const filters = useMemo(() => parseTraceFilters(params), [params])
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useTraces(slug, filters)
  const traces = useMemo(() => data?.pages.flatMap((page) => page.traces) ?? [], [data])
  const first = data?.pages[0]
  const loadMore = () => {
    if (hasNextPage && !isFetchingNextPage && !error) void fetchNextPage()
  }
  if (error instanceof ApiError && error.code === 'route_not_found')
    return <NoTracing>This instance runs an older Homeport, which has no traces.</NoTracing>

  const isFiltered = Object.keys(filters).length > 0
  return (
    <>
      {(traces.length > 0 || isFiltered) && <TraceFilterFields filters={filters} onChange={change} />}
      {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      {first?.is_enabled === false && (
        <p className="text-muted" role="status">
          Traces are off for this project. <Link href={`/projects/${slug}/settings`}>Open settings</Link>
        </p>
      )}
      <section key={data ? 'list' : 'loading'} className="card" aria-label="Traces" hidden={error !== null && !data}>
        {!data && !error && <SkeletonRows rows={12} height={virtualRowHeight} />}
        {traces.length > 0 && <TraceList slug={slug} traces={traces} isComplete={!hasNextPage} onEndReached={loadMore} />}
        {data && traces.length === 0 && <NoTraces isFiltered={isFiltered} onClear={clear} />}
      </section>
      {data && traces.length > 0 && (
        <p className={`text-subtle ${styles.foot}`} role="status">
          {`${traces.length.toLocaleString()} ${traces.length === 1 ? 'trace' : 'traces'}${hasNextPage ? '; scroll to load more' : ''}`}
          {first !== undefined && first.dropped_spans > 0 && `${first.dropped_spans.toLocaleString()} spans were not stored so far`}
          <HelpLink topic="traces">How apps send traces</HelpLink>
        </p>
      )}
    </>
  )
}

function TraceFilterFields({ filters, onChange }: { filters: TraceQuery; onChange: (next: TraceFilterChange) => void }) {
  return (
    <div className={styles.filters}>
      <FilterInput
        label="Route"
        placeholder="Route, such as /orders or */:id"
        className={styles.routeFilter}
        value={filters.route ?? ''}
        onChange={(route) => onChange({ route })}
      />
      <FilterSelect
        label="Status"
        all="Any status"
        value={filters.status ?? ''}
        choices={statusChoices}
        onChange={(status) => onChange({ status })}
      />
      <FilterSelect
        label="Duration"
        all="Any duration"
        value={filters.min_duration_ms ?? ''}
        choices={durationChoices}
        onChange={(value) => onChange({ min_duration_ms: value })}
      />
      <FilterSelect
        label="Errors"
        all="With and without errors"
        value={filters.errors ?? ''}
        choices={{ true: 'With errors' }}
        onChange={(errors) => onChange({ errors })}
      />
    </div>
  )
}

function NoTraces({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  return (
    <EmptyState
      icon={Waypoints}
      title={isFiltered ? 'No traces match' : 'No traces yet'}
      action={isFiltered ? <Button onClick={onClear}>Clear filters</Button> : <HelpLink topic="traces">How apps send traces</HelpLink>}
    >
      {isFiltered
        ? 'The last 100,000 spans of 3 days are kept.'
        : 'An app with an OpenTelemetry SDK sends its traces here without configuration: requests, SQL queries and calls to other services.'}
    </EmptyState>
  )
}
