import { memo } from 'react'
import { Link } from 'wouter'
import type { Deployment } from '../../../server/contract/deployments.ts'
import { duration } from '../../ui/format.ts'
import { useNow } from '../../ui/now.ts'
import { StatusWord, deploymentSign } from '../../ui/status.tsx'
import { DeploymentLine, deploymentTitle, triggerWord } from './deployment-line.tsx'
import { isTerminal, tookMs } from './progress.ts'
import './deployment-rows.css'

/** In px, of a row that says no more than most do. */
export const rowHeight = 62

export function DeploymentRows({ slug, deployments }: { slug: string; deployments: Deployment[] }) {
  return (
    <ul className="deployment-rows" data-rows>
      {deployments.map((deployment) => (
        <li key={deployment.id}>
          <DeploymentRow slug={slug} deployment={deployment} trigger={triggerWord(deployment, deployments)} />
        </li>
      ))}
    </ul>
  )
}

export const DeploymentRow = memo(function DeploymentRow({ slug, deployment, trigger }: { slug: string; deployment: Deployment; trigger: string }) {
  return (
    <div className="deployment-row">
      <Link
        href={`/projects/${slug}/deployments/${deployment.id}`}
        className="deployment-cover"
        aria-label={`${deploymentTitle(deployment)}, ${deploymentSign(deployment.status).word}`}
      />
      <span className="deployment-status">
        <StatusWord sign={deploymentSign(deployment.status)} />
      </span>
      <DeploymentLine deployment={deployment} />
      <span className="deployment-trigger quiet">
        {trigger}
        {deployment.target === 'preview' && ' · preview'}
      </span>
      <span className="deployment-took">
        <Took deployment={deployment} />
      </span>
      <span className="deployment-current">{deployment.is_current && <span className="current">Current</span>}</span>
    </div>
  )
})

function Took({ deployment }: { deployment: Deployment }) {
  const now = useNow(isTerminal(deployment.status) ? null : 1_000)
  if (deployment.queue_position !== null) return <span className="faint">{deployment.queue_position}. in line</span>
  const took = tookMs(deployment, now)
  return took === null ? null : duration(took)
}
