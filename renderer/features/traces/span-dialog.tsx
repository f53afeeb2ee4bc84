import { Link } from 'wouter'
import type { SpanAttributes, TraceSpanDetails } from '../../../server/contract/traces.ts'
import { useTraceSpan } from '../../api/traces.ts'
import { CopyButton } from '../../components/copy.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { DurationBar } from '../../components/duration-bar.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { toApiError } from '../../lib/api-error.ts'
import { formatLatency } from '../../lib/format.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import styles from './traces.module.css'

/** Everything that is known of a span. */
export function SpanDialog({ slug, traceId, spanId, onClose }: { slug: string; traceId: string; spanId: string; onClose: () => void }) {
  const { data, error, refetch } = useTraceSpan(slug, traceId, spanId)
  return (
    <Dialog open onOpenChange={onClose} title={data?.name ?? 'Span'}>
      {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      {!data && !error && <SkeletonRows rows={6} height={32} />}
      {data && <SpanDetails slug={slug} span={data} />}
    </Dialog>
  )
}

const kindLabels: Record<TraceSpanDetails['kind'], string> = {
  edge: 'Request at the edge',
  internal: 'Internal',
  server: 'Server',
  client: 'Client',
  producer: 'Producer',
  consumer: 'Consumer',
}

function SpanDetails({ slug, span }: { slug: string; span: TraceSpanDetails }) {
  const sql = span.attributes['db.query.text'] ?? span.attributes['db.statement']
  return (
    <div className="stack">
      <p>
        <strong>{formatLatency(span.duration_ms)}</strong>{' '}
        <span className="text-muted">
          {kindLabels[span.kind]}, {sanitizeForDisplay(span.service)}
        </span>
      </p>
      {span.phases.length > 1 && (
        <DurationBar label="Duration" segments={span.phases.map(({ name, duration_ms }) => ({ name, ms: duration_ms, state: 'done' }))} />
      )}
      {span.is_error && (
        <p className={styles.failed} role="status">
          {sanitizeForDisplay(span.status_message ?? 'The span failed.')}
        </p>
      )}
      {span.request_id !== null && <Link href={`/projects/${slug}/logs/requests?request=${span.request_id}`}>Show request</Link>}
      {typeof sql === 'string' && (
        <section aria-label="SQL" className={styles.statement}>
          <code>{sanitizeForDisplay(sql)}</code>
          <CopyButton text={sql} label="Copy SQL" />
        </section>
      )}
      {span.events.map((event, at) => (
        <section key={at} className={styles.event} aria-label={sanitizeForDisplay(event.name)}>
          <h3>
            {sanitizeForDisplay(event.name)} <span className="text-subtle">{formatLatency(Math.max(0, event.start_ms))}</span>
          </h3>
          <Attributes attributes={event.attributes} />
        </section>
      ))}
      <section aria-label="Attributes">
        <Attributes attributes={{ ...span.attributes, ...(span.scope !== null && { scope: span.scope }), 'span.id': span.span_id }} />
      </section>
    </div>
  )
}

function Attributes({ attributes }: { attributes: SpanAttributes }) {
  return (
    <dl className={styles.attributes}>
      {Object.entries(attributes)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, value]) => (
          <div key={key}>
            <dt>{sanitizeForDisplay(key)}</dt>
            <dd>
              <code>{sanitizeForDisplay(Array.isArray(value) ? value.join(', ') : String(value))}</code>
            </dd>
          </div>
        ))}
    </dl>
  )
}
