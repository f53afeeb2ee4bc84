import { ArrowUp, ListFilter, X } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { Link } from 'wouter'
import { ApiError } from '../../../server/client/api-error.ts'
import { limits } from '../../../server/contract/limits.ts'
import { useCapabilities } from '../../api/capabilities.ts'
import { useHarDownload } from '../../api/downloads.ts'
import { useInstanceSession } from '../../api/instance.ts'
import { useProject } from '../../api/projects.ts'
import { type RequestQuery, useRequests } from '../../api/requests.ts'
import { virtualRowHeight } from '../../components/virtual-list.tsx'
import { Button } from '../../components/button.tsx'
import { DownloadButton } from '../../components/download-button.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { toApiError } from '../../lib/api-error.ts'
import { formatDateTime } from '../../lib/format.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { useQueryParams } from '../../lib/use-query-params.ts'
import { useTitle } from '../../lib/use-title.ts'
import { CaptureControl } from './capture-control.tsx'
import { FilterFields } from './filter-fields.tsx'
import { type AddedFilter, addedFilters, type FilterChange, parseRequestFilters } from './filters.ts'
import { RequestDialog } from './request-dialog.tsx'
import { RequestList } from './request-list.tsx'
import { useIsScrolled } from './use-is-scrolled.ts'
import { useLiveRequests } from './use-live-requests.ts'
import styles from './requests.module.css'

/** The requests that the apps of a project answered, live. */
export default function RequestsPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  useTitle(`Requests · ${project?.name ?? slug}`)
  const { is_known, has_instance_api } = useCapabilities()
  return (
    <div className="stack">
      {is_known && !has_instance_api ? (
        <NoLog>Hosted accounts have no request log. Homeport on your own machine has one.</NoLog>
      ) : (
        <Requests slug={slug} />
      )}
    </div>
  )
}

function NoLog({ children }: { children: ReactNode }) {
  return (
    <div className="card">
      <EmptyState icon={ListFilter} title="No request log">
        {children}
      </EmptyState>
    </div>
  )
}

function Requests({ slug }: { slug: string }) {
  const { params, change, clear } = useQueryParams()
  const filters = useMemo(() => parseRequestFilters(params), [params])
  const [isLive, setLive] = useState(true)
  const canFollow = filters.until === undefined
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useRequests(slug, filters)
  const first = data?.pages[0]
  const live = useLiveRequests(slug, filters, isLive && canFollow ? first?.last_event_id : undefined)
  const stored = useMemo(() => data?.pages.flatMap((page) => page.requests) ?? [], [data])
  // New rows would move the list under the pointer, so they appear once the page is scrolled to its top.
  const isScrolled = useIsScrolled()
  const [shownLive, setShownLive] = useState(live.requests)
  if (shownLive !== live.requests && (!isScrolled || live.requests.length === 0)) setShownLive(live.requests)
  const waiting = isScrolled ? live.requests.length - shownLive.length : 0
  const requests = useMemo(() => [...shownLive, ...stored], [shownLive, stored])

  const toggleLive = () => {
    setLive(!isLive)
    if (!isLive) void refetch()
  }
  const loadMore = () => {
    if (hasNextPage && !isFetchingNextPage && !error) void fetchNextPage()
  }
  const har = useHarDownload(slug)
  const selected = params.get('request')
  if (error instanceof ApiError && error.code === 'route_not_found')
    return <NoLog>This instance runs an older Homeport, which has no request log.</NoLog>

  return (
    <>
      <FilterFields filters={filters} onChange={change} isLive={isLive && canFollow} onToggleLive={canFollow ? toggleLive : null} />
      <AddedFilters filters={filters} onChange={change} />
      {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      {first?.is_recording === false ? <RecordingOff /> : <CaptureControl slug={slug} />}
      <section key={data ? 'list' : 'loading'} className="card" aria-label="Requests" hidden={error !== null && !data}>
        {!data && !error && <SkeletonRows rows={12} height={virtualRowHeight} />}
        {requests.length > 0 && (
          <RequestList
            main_host={`${slug}.localhost`}
            requests={requests}
            isComplete={!hasNextPage}
            onSelect={({ id }) => change({ request: id })}
            onEndReached={loadMore}
          />
        )}
        {data && requests.length === 0 && <NoRequests isFiltered={Object.keys(filters).length > 0} onClear={clear} />}
      </section>
      {data && requests.length > 0 && (
        <p className={`text-subtle ${styles.foot}`} role="status">
          {live.stream.name === 'waiting' && isLive
            ? 'Connection lost; reconnecting…'
            : `${requests.length.toLocaleString()} ${requests.length === 1 ? 'request' : 'requests'}${hasNextPage ? '; scroll to load more' : ''}`}
          <HelpLink topic="requests">What is logged</HelpLink>
        </p>
      )}
      {requests.length > 0 && (
        <div>
          <DownloadButton load={har.ofList(filters)} name={`${slug}-requests.har`} text="Download HAR" />
        </div>
      )}
      {waiting > 0 && (
        <button type="button" className={styles.newer} onClick={() => window.scrollTo({ top: 0 })}>
          <ArrowUp size={14} aria-hidden />
          {waiting.toLocaleString()} new
        </button>
      )}
      {selected !== null && <RequestDialog slug={slug} id={selected} onClose={() => change({ request: undefined })} />}
    </>
  )
}

function AddedFilters({ filters, onChange }: { filters: RequestQuery; onChange: (next: FilterChange) => void }) {
  const { since, until } = filters
  // The status has a field of its own, which shows it.
  const names = (Object.keys(addedFilters) as AddedFilter[]).filter((name) => name !== 'status' && filters[name] !== undefined)
  if (names.length === 0 && since === undefined && until === undefined) return null
  return (
    <div className={styles.chips}>
      {(since !== undefined || until !== undefined) && (
        <Button icon={X} onClick={() => onChange({ since: undefined, until: undefined })}>
          {[since && `from ${formatDateTime(since)}`, until && `until ${formatDateTime(until)}`].filter(Boolean).join(' ')}
        </Button>
      )}
      {names.map((name) => (
        <Button key={name} icon={X} onClick={() => onChange({ [name]: undefined })}>
          {addedFilters[name].label} {sanitizeForDisplay(filters[name] ?? '')}
        </Button>
      ))}
    </div>
  )
}

function NoRequests({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  return (
    <EmptyState
      icon={ListFilter}
      title={isFiltered ? 'No requests match' : 'No requests yet'}
      action={isFiltered && <Button onClick={onClear}>Clear filters</Button>}
    >
      {isFiltered
        ? `The last ${limits.request_log.rows.toLocaleString()} requests of ${limits.request_log.days} days are kept.`
        : 'Open the app once: the request appears here within a second, with its status, duration and cache result.'}
    </EmptyState>
  )
}

function RecordingOff() {
  const isOwner = useInstanceSession().data?.user.is_instance_owner ?? false
  return (
    <p className="text-muted" role="status">
      The request log of this instance is off, so new requests do not appear. {isOwner && <Link href="/instance/settings">Open settings</Link>}
    </p>
  )
}
