import type { DeploymentDetail } from '../../../server/contract/deployments.ts'
import { duration } from '../../ui/format.ts'
import { useNow } from '../../ui/now.ts'
import { Mark, stepSign } from '../../ui/status.tsx'
import { isReached, stepMs, stepWord } from './progress.ts'
import './timeline.css'

/** The steps of a deployment, one under the other as a passage along its marks. */
export function Timeline({ deployment: { status, steps } }: { deployment: DeploymentDetail }) {
  const now = useNow(steps.some((step) => step.status === 'running') ? 100 : null)
  return (
    <ol className="timeline" aria-label="Steps">
      {steps.map((step, index) => {
        const took = stepMs(step, now)
        const sign = stepSign(step.status, isReached(status, steps, index))
        return (
          <li key={step.name} className={`passage passage-${step.status}`} aria-current={step.status === 'running' ? 'step' : undefined}>
            <span className="passage-mark">
              <Mark sign={sign} />
            </span>
            <span className="passage-name">
              {stepWord(step.name)}
              {/* What runs or failed says so; the rest shows it by its mark alone. */}
              <span className={step.status === 'done' || step.status === 'pending' ? 'unseen' : 'faint'}> {sign.word.toLowerCase()}</span>
            </span>
            <span className="passage-took">{took !== null && step.status !== 'skipped' ? duration(took) : ''}</span>
          </li>
        )
      })}
    </ol>
  )
}
