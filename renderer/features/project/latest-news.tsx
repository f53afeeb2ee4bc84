import { ArrowRight } from 'lucide-react'
import { Link } from 'wouter'
import type { Deployment } from '../../../server/contract/deployments.ts'
import { duration } from '../../ui/format.ts'
import { Prose } from '../../ui/prose.tsx'
import { useNow } from '../../ui/now.ts'
import { Mark, deploymentSign } from '../../ui/status.tsx'
import { deploymentTitle } from '../deployments/deployment-line.tsx'
import { isTerminal, tookMs } from '../deployments/progress.ts'

/** The newest deployment, when it is not what serves: under way, or failed and why. */
export function LatestNews({ slug, deployment, serves }: { slug: string; deployment: Deployment; serves: boolean }) {
  const underWay = !isTerminal(deployment.status)
  const now = useNow(underWay ? 1_000 : null)
  const took = tookMs(deployment, now)
  const sign = deploymentSign(deployment.status)
  return (
    <section className={`card news tone-${sign.tone}`} aria-label="Newest deployment">
      <Mark sign={sign} />
      <div>
        <h2>
          {sign.word}: {deploymentTitle(deployment)}
        </h2>
        {underWay ? (
          <p className="quiet">
            {deployment.queue_position !== null
              ? `Number ${deployment.queue_position} in the queue.`
              : took !== null && `Under way for ${duration(took)}.`}
            {serves && ' No downtime: the current version stays live until this one is healthy.'}
          </p>
        ) : (
          deployment.error && (
            <>
              <p>
                <Prose text={deployment.error.message} />
              </p>
              <p className="quiet">
                <Prose text={deployment.error.hint} />
                {serves && ' The current version stays live.'}
              </p>
            </>
          )
        )}
      </div>
      <Link href={`/projects/${slug}/deployments/${deployment.id}`} className="button button-plain">
        <span>{underWay ? 'Watch' : 'See what happened'}</span>
        <ArrowRight size={15} aria-hidden />
      </Link>
    </section>
  )
}
