import { Rocket } from 'lucide-react'
import { useEffect } from 'react'
import type { EnvVar } from '../../../server/contract/env-vars.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { useAction } from '../../api/actions.ts'
import { useDeployment, useLatest, useServing } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { DeploymentNews } from '../deployments/deployment-news.tsx'
import { isTerminal } from '../deployments/progress.ts'

/**
 * Between the variables and the app that runs: a deployment that takes them along, or the offer of one where what
 * production sees was changed since it was deployed, here or anywhere else.
 */
export function DeploymentNotice({
  project,
  variables,
  started,
  onStarted,
}: {
  project: Project
  variables: readonly EnvVar[]
  /** The deployment that came of what was last done on this page. */
  started: string | null
  onStarted: (id: string | null) => void
}) {
  const { slug } = project
  const { data: latest } = useLatest(slug)
  const { data: serving } = useServing(slug)
  const isFollowed = latest?.target === 'production' && !isTerminal(latest.status)
  // What is under way stays in sight when it has ended, so that its end is seen.
  const latestId = isFollowed ? latest.id : null
  useEffect(() => {
    if (latestId !== null && latestId !== started) onStarted(latestId)
  }, [latestId, started, onStarted])

  const deploy = useAction('deployProject', { onDone: ({ deployment_id }) => onStarted(deployment_id) })
  const again = useAction('retryDeployment', { onDone: ({ deployment_id }) => onStarted(deployment_id) })
  const since = isFollowed ? latest.created_at : serving?.created_at
  const changed = since === undefined ? [] : variables.filter((one) => one.environment !== 'preview' && one.updated_at > since)
  // The deployment that takes them along was begun, and is not known here yet: ids follow their time.
  const isBegun = started !== null && (latest?.id ?? '') < started
  const isStale = changed.length > 0 && serving !== null && serving !== undefined && !isBegun
  return (
    <>
      {started !== null && <Followed slug={slug} id={started} isStale={isStale} onDismiss={() => onStarted(null)} />}
      {isStale && (
        <div className="card deployment-news" role="status">
          <p>
            {changed.length === 1 ? (
              <>
                <code>{changed[0]?.key}</code> was
              </>
            ) : (
              `${changed.length} variables were`
            )}{' '}
            changed since the app was deployed. It has what is new with its next deployment.
          </p>
          <Button
            icon={Rocket}
            busy={deploy.isPending || again.isPending}
            onClick={() => (project.is_connected ? deploy.mutate({ params: { slug } }) : again.mutate({ params: { slug, id: serving.id } }))}
          >
            Deploy now
          </Button>
        </div>
      )}
    </>
  )
}

function Followed({ slug, id, isStale, onDismiss }: { slug: string; id: string; isStale: boolean; onDismiss: () => void }) {
  const { data: deployment } = useDeployment(slug, id)
  // That an earlier deployment went well is no news beside a later change.
  if (!deployment || (isStale && deployment.status === 'ready')) return null
  return (
    <DeploymentNews
      slug={slug}
      id={id}
      onDismiss={onDismiss}
      words={{
        running: 'Redeploying with the new variables…',
        ready: 'The app runs with the variables as they are now.',
        failed: 'The deployment with the new variables failed; what ran before still runs.',
        canceled: 'The deployment with the new variables was canceled; what ran before still runs.',
      }}
    />
  )
}
