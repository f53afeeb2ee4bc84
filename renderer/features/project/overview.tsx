import { Ship } from 'lucide-react'
import { Suspense, useState } from 'react'
import { Link } from 'wouter'
import { useDeployments, useLatestDeployment, useServingDeployment } from '../../api/deployments.ts'
import { useDevServers } from '../../api/dev-servers.ts'
import { usePreviews } from '../../api/previews.ts'
import { useProject } from '../../api/projects.ts'
import { useUnsavedFiles } from '../../api/volumes.ts'
import type { Deployment } from '../../../server/contract/deployments.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { toApiError } from '../../lib/api-error.ts'
import { EmptyState, ProblemView, Skeleton, SkeletonRows } from '../../components/feedback.tsx'
import { formatDateTime } from '../../lib/format.ts'
import { StatusIcon, projectBadge } from '../../components/status.tsx'
import { lazyWithRetry } from '../../lib/load-with-retry.ts'
import { useInitialLoading } from '../../lib/use-initial-loading.ts'
import { RelativeTime } from '../../components/time.tsx'
import { DeploymentRows } from '../../components/deployment-rows.tsx'
import { isTerminal } from '../../lib/deployment-progress.ts'
import { useTitle } from '../../lib/use-title.ts'
import { useFaviconStatus } from '../../lib/use-favicon-status.ts'
import { RollbackConfirmDialog } from '../deployments/index.ts'
import { UnsavedFilesNotice } from '../volumes/index.ts'
import { CurrentDeployment } from './current-deployment.tsx'
import { DevServers } from './dev-servers.tsx'
import { Fact } from './fact.tsx'
import { LatestDeployment } from './latest-deployment.tsx'
import { OpenPreviews } from './open-previews.tsx'
import { Traffic } from './traffic.tsx'
import { SleepSetting } from './sleep-setting.tsx'
import styles from './overview.module.css'

const ProjectPlan = lazyWithRetry(async () => ({ default: (await import('../plan/index.ts')).ProjectPlan }))

const maxRecent = 5

export function Overview({ slug }: { slug: string }) {
  const projectQuery = useProject(slug)
  const { data: project } = projectQuery
  const latestQuery = useLatestDeployment(slug, project !== undefined)
  const servingQuery = useServingDeployment(slug)
  const deploymentsQuery = useDeployments(slug, {})
  const isLoading = useInitialLoading([
    projectQuery,
    latestQuery,
    servingQuery,
    usePreviews(slug),
    useDevServers(slug),
    useUnsavedFiles(slug),
    deploymentsQuery,
  ])
  const { data: latest } = latestQuery
  const { data: serving } = servingQuery
  const { data: deploymentList, error, refetch } = deploymentsQuery
  useTitle(project?.name ?? slug, useFaviconStatus(latest))
  const [rollback, setRollback] = useState<Deployment | null>(null)
  const deployments = deploymentList?.pages[0]?.deployments ?? []

  if (error) return <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
  // All data loads before the page renders, because the content at the top decides the position of the rest.
  if (!project || isLoading) return <OverviewSkeleton />
  if (deploymentList && deployments.length === 0) {
    return (
      <div className="stack">
        <DevServers slug={slug} />
        <div className="card">
          <EmptyState icon={Ship} title="Not deployed yet">
            {project.is_connected
              ? 'Select Deploy: Homeport fetches the branch, builds it and gives it a URL.'
              : 'Select Deploy and choose the app’s folder, or drop a .zip or .tar.gz here.'}
          </EmptyState>
        </div>
        {project.is_connected && (
          <Suspense fallback={<Skeleton height={260} />}>
            <ProjectPlan project={project} />
          </Suspense>
        )}
      </div>
    )
  }
  const showsLatest = latest && latest.id !== serving?.id && (!isTerminal(latest.status) || latest.status === 'failed')
  return (
    <div className={styles.overview}>
      <div className="stack">
        <DevServers slug={slug} />
        {showsLatest && <LatestDeployment slug={slug} deployment={latest} hasServing={serving !== null && serving !== undefined} />}
        {!showsLatest && <StateNotice project={project} />}
        {serving && <UnsavedFilesNotice slug={slug} />}
        {serving && <CurrentDeployment slug={slug} project={project} deployment={serving} newestFirst={deployments} />}
        {serving && <Traffic slug={slug} />}
        {project.is_connected && <OpenPreviews slug={slug} />}
        <section className="card" aria-labelledby="recent">
          <header className="card-header">
            <h2 id="recent">Deployments</h2>
            <Link href={`/projects/${slug}/deployments`}>All deployments</Link>
          </header>
          <DeploymentRows slug={slug} deployments={deployments.slice(0, maxRecent)} onRollback={setRollback} />
        </section>
      </div>
      <Facts project={project} isServing={Boolean(serving)} />
      {rollback && <RollbackConfirmDialog slug={slug} deployment={rollback} onClose={() => setRollback(null)} />}
    </div>
  )
}

function OverviewSkeleton() {
  return (
    <div className={styles.overview}>
      <div className={`card ${styles.currentDeployment}`}>
        <Skeleton height={220} />
        <SkeletonRows rows={3} height={44} />
      </div>
      <div className="card">
        <SkeletonRows rows={6} height={56} />
      </div>
    </div>
  )
}

/** A project status that no deployment explains, and how to resolve it. */
function StateNotice({ project }: { project: Project }) {
  if (project.status !== 'inactive' && project.status !== 'crashed') return null
  const badge = projectBadge(project)
  return (
    <section className={`card ${styles.statusNotice} tone-${badge.tone}`} aria-label={badge.label}>
      <StatusIcon badge={badge} />
      {project.status === 'inactive' ? (
        <div>
          <h2>Stopped</h2>
          <p className="text-muted">The app is not running; visitors see a notice. Deploy to start it again.</p>
        </div>
      ) : (
        <div>
          <h2>The app keeps exiting</h2>
          <p className="text-muted">
            It was restarted several times and kept exiting. Check its log for the cause; a new deployment starts it again.
          </p>
        </div>
      )}
      {project.status === 'crashed' && (
        <Link href={`/projects/${project.slug}/logs`} className="button button-plain">
          <span>View log</span>
        </Link>
      )}
    </section>
  )
}

function Facts({ project, isServing }: { project: Project; isServing: boolean }) {
  return (
    <aside className={`card ${styles.facts}`} aria-label="Details">
      <dl>
        <Fact name="Status">{projectBadge(project, isServing).label}</Fact>
        <Fact name="Repository">
          {project.repo_url ? <span className="mono">{project.repo_url}</span> : 'None (deployed from a folder or archive)'}
        </Fact>
        {project.is_connected && (
          <Fact name="Branch">
            <span className="mono">{project.repo_branch}</span>
          </Fact>
        )}
        {project.root_directory !== '.' && (
          <Fact name="Root directory">
            <span className="mono">{project.root_directory}</span>
          </Fact>
        )}
        <Fact name="Memory">up to {project.memory_limit_mb} MB</Fact>
        <SleepSetting project={project} />
        <Fact name="Last request">{project.last_request_at ? <RelativeTime at={project.last_request_at} /> : 'None yet'}</Fact>
        <Fact name="Created">
          <time dateTime={project.created_at}>{formatDateTime(project.created_at)}</time>
        </Fact>
      </dl>
    </aside>
  )
}
