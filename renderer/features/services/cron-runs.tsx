import { useCronRuns } from '../../api/services.ts'
import { Button } from '../../components/button.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { StatusBadge } from '../../components/status.tsx'
import { RelativeTime } from '../../components/time.tsx'
import type { CronRun } from '../../../server/contract/services.ts'
import { toApiError } from '../../lib/api-error.ts'
import { cronRunBadge } from './service-badge.ts'
import styles from './services.module.css'

/** The runs of a cron service, newest first. */
export function CronRuns({ slug, name }: { slug: string; name: string }) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useCronRuns(slug, name)
  const runs = data?.pages.flatMap((page) => page.runs)
  return (
    <section className="card" aria-labelledby={`runs-of-${name}`}>
      <header className="card-header">
        <h2 id={`runs-of-${name}`}>Runs of {name}</h2>
      </header>
      {error && !runs && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      {!error && runs === undefined && <SkeletonRows rows={2} height={48} />}
      {runs?.length === 0 && <p className="card-body text-subtle">No runs yet. The first one starts when it is due.</p>}
      {runs && runs.length > 0 && (
        <ul data-rows>
          {runs.map((run) => (
            <li key={run.id} className={`card-row ${styles.run}`}>
              <StatusBadge badge={cronRunBadge(run.status)} />
              <span className="truncate">
                <RelativeTime at={run.scheduled_at} />
                {run.trigger === 'manual' && <span className="text-subtle"> · started manually</span>}
              </span>
              <span className="text-subtle">{run.message ?? formatRunTime(run)}</span>
            </li>
          ))}
        </ul>
      )}
      {hasNextPage && (
        <div className="card-body">
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
    </section>
  )
}

const formatRunTime = ({ started_at, finished_at }: CronRun): string =>
  started_at === null || finished_at === null ? '' : `${((Date.parse(finished_at) - Date.parse(started_at)) / 1_000).toFixed(1)} s`
