import type { DeploymentDetail, StepStatus } from '../../../server/contract/deployments.ts'
import { stepLabels } from '../../../server/contract/labels.ts'
import { formatDuration } from '../../lib/format.ts'
import { useNow } from '../../lib/use-now.ts'
import { StatusIcon, stepBadge } from '../../components/status.tsx'
import { wasStepReached, stepDuration_ms } from '../../lib/deployment-progress.ts'
import styles from './timeline.module.css'

/** A skipped step may come after the failed one, where the word would be read as a result. */
const quietStatuses = new Set<StepStatus>(['done', 'pending', 'skipped'])

/** The steps of a deployment as a vertical timeline. */
export function Timeline({ deployment: { status, steps } }: { deployment: DeploymentDetail }) {
  const now = useNow(steps.some((step) => step.status === 'running') ? 100 : null)
  return (
    <ol className={styles.timeline} aria-label="Steps">
      {steps.map((step, index) => {
        const duration_ms = stepDuration_ms(step, now)
        const badge = stepBadge(step.status, wasStepReached(status, steps, index))
        return (
          <li
            key={step.name}
            data-testid="timeline-step"
            data-status={step.status}
            className={`${styles.timelineStep} ${styles[`timeline-step-${step.status}`] ?? ''}`}
            aria-current={step.status === 'running' ? 'step' : undefined}
          >
            <span className={styles.timelineStepMark}>
              <StatusIcon badge={badge} />
            </span>
            <span className={styles.timelineStepName}>
              {stepLabels[step.name]}
              {/* Running, failed and canceled steps show their status as text; for the others the icon is sufficient. */}
              <span className={quietStatuses.has(step.status) ? 'visually-hidden' : 'text-subtle'}> {badge.label.toLowerCase()}</span>
            </span>
            <span className={styles.timelineStepTook}>{duration_ms !== null && step.status !== 'skipped' ? formatDuration(duration_ms) : ''}</span>
          </li>
        )
      })}
    </ol>
  )
}
