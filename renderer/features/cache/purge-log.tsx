import { useCacheEvents } from '../../api/edge-cache.ts'
import type { CacheEvent } from '../../../server/contract/cache.ts'
import { toApiError } from '../../lib/api-error.ts'
import { Button } from '../../components/button.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { RelativeTime } from '../../components/time.tsx'
import styles from './page.module.css'

const sourceLabels: Record<CacheEvent['source'], string> = {
  api: 'by the API',
  dashboard: 'from the dashboard',
  webhook: 'by the webhook',
  deploy: 'by a deployment',
}

/** Purges, newest first. */
export function PurgeLog({ slug }: { slug: string }) {
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useCacheEvents(slug)
  const events = data?.pages.flatMap((page) => page.events) ?? []
  return (
    <section className="card" aria-labelledby="purge-log">
      <header className="card-header">
        <h2 id="purge-log">Purge log</h2>
      </header>
      {error && (
        <div className="card-body">
          <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
        </div>
      )}
      {isPending && <SkeletonRows rows={3} height={52} />}
      {data && events.length === 0 && <p className="card-body text-muted">No purges yet. Every purge and every new token is listed here.</p>}
      <ul aria-live="polite" aria-relevant="additions">
        {events.map((event) => (
          <li key={event.id} className={styles.eventsRow}>
            <span className={styles.eventsWhat}>
              <EventDescription event={event} />
            </span>
            <span className="text-muted">{sourceLabels[event.source]}</span>
            <span className="text-subtle">
              <RelativeTime at={event.created_at} />
            </span>
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <footer className={styles.eventsFoot}>
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show older
          </Button>
        </footer>
      )}
    </section>
  )
}

function EventDescription({ event }: { event: CacheEvent }) {
  if (event.kind === 'token_rotated') return <span>New webhook token</span>
  const count = `${event.purged.toLocaleString()} stored ${event.purged === 1 ? 'response' : 'responses'}`
  const targets = event.kind === 'purge_tags' ? event.tags : event.urls
  return (
    <>
      <span>
        {event.kind === 'purge_all' ? 'Everything' : event.kind === 'purge_tags' ? 'By tag' : 'By URL'}: {count}
      </span>
      {targets.length > 0 && (
        <span className={styles.tags}>
          {targets.map((name) => (
            <span key={name} className={styles.tag} data-testid="tag">
              {name}
            </span>
          ))}
        </span>
      )}
    </>
  )
}
