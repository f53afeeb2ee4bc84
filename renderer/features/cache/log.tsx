import type { CacheEvent } from '../../../server/contract/cache.ts'
import { problemFrom } from '../../api/problem.ts'
import { useCacheEvents } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { Ago } from '../../ui/time.tsx'

const sources: Record<CacheEvent['source'], string> = {
  api: 'by the API',
  dashboard: 'from the dashboard',
  webhook: 'by the webhook',
  deploy: 'by a deployment',
}

/** Who purged what, newest first. */
export function PurgeLog({ slug }: { slug: string }) {
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useCacheEvents(slug)
  const events = data?.pages.flatMap((page) => page.events) ?? []
  return (
    <section className="card" aria-labelledby="purge-log">
      <header className="card-head">
        <h2 id="purge-log">Log</h2>
      </header>
      {error && (
        <div className="card-body">
          <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />
        </div>
      )}
      {isPending && <SkeletonRows rows={3} height={52} />}
      {data && events.length === 0 && (
        <p className="card-body quiet">Nothing was purged yet. Every purge, and every new token, is written down here.</p>
      )}
      <ul aria-live="polite" aria-relevant="additions">
        {events.map((event) => (
          <li key={event.id} className="events-row">
            <span className="events-what">
              <What event={event} />
            </span>
            <span className="quiet">{sources[event.source]}</span>
            <span className="faint">
              <Ago at={event.created_at} />
            </span>
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <footer className="events-foot">
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Older ones
          </Button>
        </footer>
      )}
    </section>
  )
}

function What({ event }: { event: CacheEvent }) {
  if (event.kind === 'token_rotated') return <span>New token for the webhook</span>
  const count = `${event.purged.toLocaleString()} stored ${event.purged === 1 ? 'answer' : 'answers'}`
  const named = event.kind === 'purge_tags' ? event.tags : event.urls
  return (
    <>
      <span>
        {event.kind === 'purge_all' ? 'Everything' : event.kind === 'purge_tags' ? 'By tag' : 'By address'}: {count}
      </span>
      {named.length > 0 && (
        <span className="tags">
          {named.map((name) => (
            <span key={name} className="tag">
              {name}
            </span>
          ))}
        </span>
      )}
    </>
  )
}
