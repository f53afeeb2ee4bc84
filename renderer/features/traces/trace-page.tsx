import { useMemo } from 'react'
import { Link, useParams, useSearchParams } from 'wouter'
import { useProject } from '../../api/projects.ts'
import { type TraceView, useTrace } from '../../api/traces.ts'
import { Button } from '../../components/button.tsx'
import { CopyText } from '../../components/copy.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { HttpStatus } from '../../components/http-status.tsx'
import { toApiError } from '../../lib/api-error.ts'
import { formatDateTime, formatLatency } from '../../lib/format.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { useTitle } from '../../lib/use-title.ts'
import { SpanDialog } from './span-dialog.tsx'
import { Waterfall } from './waterfall.tsx'
import { buildTree } from './waterfall-rows.ts'
import styles from './traces.module.css'

/** One trace as a waterfall. */
export default function TracePage({ slug }: { slug: string }) {
  const { id = '' } = useParams()
  const { data: project } = useProject(slug)
  const { data, error, refetch, isFetching } = useTrace(slug, id)
  useTitle(`${data?.trace.name ?? 'Trace'} · ${project?.name ?? slug}`)
  return (
    <div className="stack">
      {error && !data && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      {!data && !error && <SkeletonRows rows={12} height={32} />}
      {data && <TraceReport slug={slug} view={data} onRefresh={() => void refetch()} isRefreshing={isFetching} />}
    </div>
  )
}

interface ReportProps {
  slug: string
  view: TraceView
  onRefresh: () => void
  isRefreshing: boolean
}

function TraceReport({ slug, view, onRefresh, isRefreshing }: ReportProps) {
  const { trace, spans, logs, is_truncated } = view
  const [params, setParams] = useSearchParams()
  const selected = params.get('span')
  const select = (span: string | null) => setParams(span === null ? {} : { span }, { replace: true })
  const nodes = useMemo(() => buildTree(spans, logs), [spans, logs])
  const request = spans.find(({ request_id }) => request_id !== null)?.request_id
  return (
    <>
      <header className={styles.head}>
        <h2 className={styles.title}>
          {trace.status !== null && <HttpStatus status={trace.status} />}
          <span className="truncate">{sanitizeForDisplay(trace.name)}</span>
        </h2>
        <p className={`text-muted ${styles.facts}`}>
          <span>{formatDateTime(trace.start_time)}</span>
          <span>{formatLatency(trace.duration_ms)}</span>
          <span>
            {trace.spans.toLocaleString()} {trace.spans === 1 ? 'span' : 'spans'}
            {trace.errors > 0 && <span className={styles.failed}>, {trace.errors.toLocaleString()} failed</span>}
          </span>
          {trace.branch !== null && <span>{sanitizeForDisplay(trace.branch)}</span>}
          {request && <Link href={`/projects/${slug}/logs/requests?request=${request}`}>Show request</Link>}
        </p>
        <div className={styles.actions}>
          <CopyText text={trace.trace_id} />
          <Button onClick={onRefresh} busy={isRefreshing}>
            Refresh
          </Button>
        </div>
      </header>
      {trace.spans === 0 && (
        <p className="text-muted" role="status">
          The app sent no spans for this request. <HelpLink topic="traces">How apps send traces</HelpLink>
        </p>
      )}
      <Waterfall nodes={nodes} duration_ms={trace.duration_ms} onSelect={select} />
      {is_truncated && <p className="text-subtle">Only the first {spans.length.toLocaleString()} spans are shown.</p>}
      {selected !== null && <SpanDialog slug={slug} traceId={trace.trace_id} spanId={selected} onClose={() => select(null)} />}
    </>
  )
}
