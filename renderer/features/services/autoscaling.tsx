import { Link } from 'wouter'
import type { Autoscaling as AutoscalingRange } from '../../../server/contract/autoscaling.ts'
import { describeAutoscaling } from '../../../server/contract/labels.ts'
import { useScalingDecisions } from '../../api/services.ts'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { toApiError } from '../../lib/api-error.ts'
import styles from './services.module.css'

/** The range of autoscaling, and each change that it made with its reason. */
export function AutoscalingSection({ slug, range }: { slug: string; range: AutoscalingRange }) {
  const { data, error, refetch } = useScalingDecisions(slug)
  return (
    <section className="card" aria-labelledby="autoscaling">
      <header className="card-header">
        <h2 id="autoscaling">Autoscaling</h2>
        <Link href={`/projects/${slug}/settings`}>Change</Link>
      </header>
      <p className="card-body text-subtle">{describeAutoscaling(range)}</p>
      {error && !data && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      {!error && data === undefined && <SkeletonRows rows={2} height={48} />}
      {data?.decisions.length === 0 && <p className="card-body text-subtle">The number of replicas has not changed yet.</p>}
      {data && data.decisions.length > 0 && (
        <ul data-rows>
          {data.decisions.map(({ time, message }) => (
            <li key={`${time} ${message}`} className={`card-row ${styles.decision}`}>
              <span className="text-subtle">
                <RelativeTime at={time} />
              </span>
              <span>{message}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
