import { Rocket } from 'lucide-react'
import { useEffect } from 'react'
import { useLatestDeployment, useRetryDeployment, useServingDeployment } from '../../api/deployments.ts'
import { useDeployProject } from '../../api/projects.ts'
import type { EnvVar } from '../../../server/contract/env-vars.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { Button } from '../../components/button.tsx'
import { DeploymentStatusCard, redeployMessages } from '../deployments/index.ts'
import type { UndeployedDeletions } from './change-store.ts'
import { isTerminal } from '../../lib/deployment-progress.ts'

/** Follows the deployment that applies the new variables, or offers a redeploy if production variables changed after the last deployment. */
export function RedeployNotice({
  project,
  variables,
  deletions,
  startedId,
  onStarted,
}: {
  project: Project
  variables: readonly EnvVar[]
  deletions: UndeployedDeletions | undefined
  /** The deployment started by the last action on this page. */
  startedId: string | null
  onStarted: (id: string | null) => void
}) {
  const { slug } = project
  const { data: latest } = useLatestDeployment(slug)
  const { data: serving } = useServingDeployment(slug)
  const isFollowed = latest?.target === 'production' && !isTerminal(latest.status)
  // A deployment that was running stays visible after it ends, to show its result.
  const latestId = isFollowed ? latest.id : null
  // At once, because the success of an earlier deployment would be shown until the effect has run. Ids are ordered by time.
  const followedId = latestId !== null && latestId > (startedId ?? '') ? latestId : startedId
  useEffect(() => {
    if (followedId !== startedId) onStarted(followedId)
  }, [followedId, startedId, onStarted])

  const deploy = useDeployProject({ onSuccess: ({ deployment_id }) => onStarted(deployment_id) })
  const refresh = useRetryDeployment({ onSuccess: ({ deployment_id }) => onStarted(deployment_id) })
  const since = isFollowed ? latest.created_at : serving?.created_at
  const updated = since === undefined ? [] : variables.filter((one) => one.environment !== 'preview' && one.updated_at > since).map(({ key }) => key)
  const changed = [...updated, ...(deletions && !isFollowed && deletions.serving_id === serving?.id ? deletions.keys : [])]
  // The deployment was started but is not loaded yet.
  const isDeploying = startedId !== null && (latest?.id ?? '') < startedId
  const isStale = changed.length > 0 && serving !== null && serving !== undefined && !isDeploying
  return (
    <>
      {followedId !== null && (
        <DeploymentStatusCard
          slug={slug}
          id={followedId}
          hidesSuccess={isStale}
          onDismiss={() => onStarted(null)}
          messages={redeployMessages('the new variables')}
        />
      )}
      {isStale && (
        <div className="card deployment-notice" role="status">
          <p>
            {changed.length === 1 ? '1 change' : `${changed.length} changes`} not deployed yet: <code>{changed.slice(0, 3).join(', ')}</code>
            {changed.length > 3 && ` and ${changed.length - 3} more`}
          </p>
          <Button
            icon={Rocket}
            busy={deploy.isPending || refresh.isPending}
            onClick={() => (project.is_connected ? deploy.mutate({ params: { slug } }) : refresh.mutate({ params: { slug, id: serving.id } }))}
          >
            Redeploy
          </Button>
        </div>
      )}
    </>
  )
}
