import { Eraser } from 'lucide-react'
import { useMetrics } from '../../api/metrics.ts'
import { useUpdateProject } from '../../api/projects.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { toApiError } from '../../lib/api-error.ts'
import { Button } from '../../components/button.tsx'
import { ProblemView, Skeleton } from '../../components/feedback.tsx'
import { SwitchField } from '../../components/field.tsx'
import { formatBytes, formatPercent } from '../../lib/format.ts'
import styles from './page.module.css'

/** Cache results of a day, stored size and the on/off switch. */
export function Summary({ project, onPurgeAll }: { project: Project; onPurgeAll: () => void }) {
  const { data, error, refetch } = useMetrics(project.slug, '24h')
  const change = useUpdateProject({
    onSuccess: () => void refetch(),
  })
  const cache = data?.cache
  const isEnabled = change.isPending ? (change.variables.body.caching_enabled ?? project.caching_enabled) : project.caching_enabled
  return (
    <section className={`card ${styles.cacheSum}`} aria-label="Edge cache">
      <div>
        {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
        {cache ? <HitRatio cache={cache} /> : !error && <Skeleton height={92} />}
      </div>
      <div>
        <SwitchField
          label="Cache responses at the edge"
          hint={
            isEnabled
              ? 'Responses that the app marks as cacheable are served by the edge, even while the app sleeps.'
              : 'Every request goes to the app and nothing is stored. Turn caching on to serve responses from the edge.'
          }
          checked={isEnabled}
          onChange={(caching_enabled) => change.mutate({ params: { slug: project.slug }, body: { caching_enabled } })}
        />
        <Button icon={Eraser} onClick={onPurgeAll}>
          Purge everything…
        </Button>
      </div>
    </section>
  )
}

interface CacheCounts {
  hits: number
  misses: number
  bypass: number
  hit_ratio: number | null
  objects: number
  bytes: number
}

function HitRatio({ cache }: { cache: CacheCounts }) {
  const outcomes = [
    { name: cache.hits === 1 ? 'hit' : 'hits', outcome: 'hit', count: cache.hits },
    { name: cache.misses === 1 ? 'miss' : 'misses', outcome: 'miss', count: cache.misses },
    { name: 'bypass', outcome: 'bypass', count: cache.bypass },
  ]
  const isEmpty = cache.hits + cache.misses + cache.bypass === 0
  return (
    <>
      <p className={styles.cacheRatio}>
        <strong>{cache.hit_ratio === null ? 'No data yet' : formatPercent(cache.hit_ratio)}</strong>
        <span className="text-muted">{cache.hit_ratio === null ? 'no requests in the last 24 h' : 'hit rate (last 24 h)'}</span>
      </p>
      <div className={styles.cacheOutcomes} aria-hidden>
        {!isEmpty &&
          outcomes.map(
            ({ outcome, count }) => count > 0 && <span key={outcome} className={styles[`cache-outcome-${outcome}`]} style={{ flexGrow: count }} />,
          )}
      </div>
      <ul className={styles.cacheLegend} data-testid="cache-legend">
        {outcomes.map(({ name, outcome, count }) => (
          <li key={outcome}>
            <span className={`${styles.cacheSwatch} ${styles[`cache-outcome-${outcome}`]}`} aria-hidden />
            <span>
              <strong>{count.toLocaleString()}</strong> {name}
            </span>
          </li>
        ))}
        <li>
          <span>
            Stored now: <strong>{cache.objects.toLocaleString()}</strong> {cache.objects === 1 ? 'response' : 'responses'},{' '}
            <strong>{formatBytes(cache.bytes)}</strong>
          </span>
        </li>
      </ul>
    </>
  )
}
