import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { useFindRedeployment } from '../../api/deployments.ts'
import { useDatabase, useDumps, useProvisioningSince } from '../../api/databases.ts'
import { useProject } from '../../api/projects.ts'
import type { Database } from '../../../server/contract/databases.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { useCapabilities } from '../../api/capabilities.ts'
import { toApiError } from '../../lib/api-error.ts'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { Progress } from '../../components/progress.tsx'
import { DeploymentStatusCard } from '../deployments/index.ts'
import { useScrollToSection } from '../../lib/use-scroll-to-section.ts'
import { useTitle } from '../../lib/use-title.ts'
import { DatabaseConnection } from './connection.tsx'
import { DropDatabase } from './drop-database.tsx'
import { Dumps } from './dumps.tsx'
import { Provision } from './provision.tsx'
import { UpgradeDatabase } from './upgrade.tsx'

/** The PostgreSQL database of a project: connection, dumps and deletion. */
export default function DatabasePage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  const { data: database, error, refetch } = useDatabase(slug)
  useTitle(`Database · ${project?.name ?? slug}`)
  const since = useProvisioningSince(slug)
  const problem = error ? toApiError(error) : null
  // The database is being created elsewhere or its server is down; both resolve without a reload.
  const isUnavailable = problem?.code === 'database_unavailable' && since === null
  if (problem && !isUnavailable && database === undefined && since === null) return <ProblemView problem={problem} onRetry={() => void refetch()} />
  if (!project || (database === undefined && !isUnavailable && since === null)) return <SkeletonRows rows={6} height={64} />
  return (
    <div className="stack">
      {isUnavailable ? (
        <DatabaseUnavailable message={problem.message} />
      ) : (
        problem && since === null && <ProblemView problem={problem} onRetry={() => void refetch()} />
      )}
      {(database || !isUnavailable) && <DatabaseDetails project={project} database={database ?? null} progress={problem?.message ?? null} />}
    </div>
  )
}

function DatabaseUnavailable({ message }: { message: string }) {
  return (
    <section className="card card-body stack" aria-label="Database">
      <Progress label={message} />
      <p className="text-subtle">This page checks every few seconds and updates automatically.</p>
    </section>
  )
}

function DatabaseDetails({ project, database, progress }: { project: Project; database: Database | null; progress: string | null }) {
  const { slug } = project
  const findRedeployment = useFindRedeployment(slug)
  const capabilities = useCapabilities()
  const dumps = useDumps(slug, capabilities.has_instance_api)
  const [params, setParams] = useSearchParams()
  const [startedDeploymentId, setStartedDeploymentId] = useState<string | null>(null)
  const [isDropped, setDropped] = useState(false)
  useScrollToSection(dumps.data !== undefined || !capabilities.has_instance_api)
  // The palette opens the dialog with this parameter.
  const requestedAction = params.get('do')
  const clearRequestedAction = () => requestedAction !== null && setParams({}, { replace: true })

  const onProvisioned = (deploymentId: string | null) => {
    setStartedDeploymentId(deploymentId)
    setDropped(false)
  }
  const onDropped = async () => {
    setDropped(true)
    setStartedDeploymentId(null)
    const redeployment = await findRedeployment()
    if (redeployment) setStartedDeploymentId(redeployment.id)
  }
  return (
    <div className="stack">
      {startedDeploymentId !== null && (
        <DeploymentStatusCard
          slug={slug}
          id={startedDeploymentId}
          onDismiss={() => setStartedDeploymentId(null)}
          messages={database ? provisionMessages : dropMessages}
        />
      )}
      {database ? (
        <DatabaseConnection database={database} />
      ) : (
        <Provision project={project} isDropped={isDropped} progress={progress} onProvisioned={onProvisioned} />
      )}
      {capabilities.has_instance_api && (
        <Dumps project={project} canRestore={database !== null} query={dumps} requestedAction={requestedAction} onClosed={clearRequestedAction} />
      )}
      {database && capabilities.has_instance_api && <UpgradeDatabase slug={slug} onRedeploying={setStartedDeploymentId} />}
      {database && (
        <DropDatabase project={project} isRequested={requestedAction === 'drop'} onClosed={clearRequestedAction} onDropped={() => void onDropped()} />
      )}
    </div>
  )
}

const provisionMessages = {
  running: 'Redeploying the app with DATABASE_URL.',
  ready: 'The app is running with DATABASE_URL.',
  failed: 'The deployment failed. The previous version is still live, without DATABASE_URL.',
  canceled: 'The deployment was canceled. The previous version is still live, without DATABASE_URL.',
}
const dropMessages = {
  running: 'Redeploying the app without DATABASE_URL.',
  ready: 'The app is running without DATABASE_URL.',
  failed: 'The deployment without DATABASE_URL failed. The previous version is still live, without its database.',
  canceled: 'The deployment without DATABASE_URL was canceled. The previous version is still live, without its database.',
}
