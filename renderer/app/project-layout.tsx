import { Compass, LockKeyhole } from 'lucide-react'
import { Suspense } from 'react'
import { Link, Route, Switch, useLocation } from 'wouter'
import { useLatestDeployment, useServingDeployment } from '../api/deployments.ts'
import { useProject } from '../api/projects.ts'
import { toApiError } from '../lib/api-error.ts'
import { projectPages } from '../routes.ts'
import { CopyButton } from '../components/copy.tsx'
import { EmptyState, ProblemView, Skeleton, SkeletonRows } from '../components/feedback.tsx'
import { safeWebUrl } from '../lib/safe-web-url.ts'
import { DropZone } from '../features/upload/drop-zone.tsx'
import { useShortcuts } from '../stores/shortcuts.ts'
import { UploadCard } from '../features/upload/upload-card.tsx'
import { useProjectUpload } from '../features/upload/use-project-upload.ts'
import { NotFound } from '../components/not-found.tsx'
import { displayUrl, useAppUrl, useSecureAppUrl } from '../api/app-url.ts'
import { ProjectActions } from '../features/project/project-actions.tsx'
import { ProjectStatusBadges } from '../components/project-status-badges.tsx'
import { ProjectNavigation } from './project-navigation.tsx'
import styles from './project-layout.module.css'

/** Header and tabs of a project. */
export function ProjectLayout({ slug }: { slug: string }) {
  const { data: project, error, refetch } = useProject(slug)
  const address = useAppUrl(slug)
  const secureUrl = useSecureAppUrl(slug)
  // Queried here, so that all tabs know the current and the latest deployment.
  const { data: latest } = useLatestDeployment(slug, project !== undefined)
  const { data: serving } = useServingDeployment(slug, project !== undefined)
  const [location, navigate] = useLocation()
  const projectPath = `/projects/${slug}`
  useShortcuts({
    overview: () => navigate(projectPath),
    logs: () => navigate(`${projectPath}/logs`),
    environment: () => navigate(`${projectPath}/environment`),
  })
  const { upload, take: uploadDropped, dismiss } = useProjectUpload(slug)

  if (error && toApiError(error).status === 404) {
    return (
      <div className="page">
        <div className="card">
          <EmptyState isPage icon={Compass} title={`Project “${slug}” not found`} action={<Link href="/">Go to projects</Link>}>
            It may have been deleted, or it is not shared with you.
          </EmptyState>
        </div>
      </div>
    )
  }
  return (
    <DropZone
      label={`Drop to deploy ${project?.name ?? slug}`}
      isEnabled={project !== undefined && acceptsArchives(location, projectPath)}
      onDropped={uploadDropped}
    >
      <div className="page">
        <header className="project-head">
          <div className="page-header">
            <div className={styles.projectTitle} data-testid="project-title">
              <h1 className="truncate">
                {project?.name ?? (
                  <>
                    <span className="visually-hidden">Project</span>
                    <Skeleton width={180} height={26} />
                  </>
                )}
              </h1>
              {project && <ProjectStatusBadges project={project} serving={serving} latest={latest} />}
            </div>
            {/* On a phone the badges have their own line, which is reserved from the start. */}
            {project ? <ProjectActions project={project} /> : <Skeleton width={216} height="var(--button)" />}
          </div>
          <div className={`row ${styles.projectWhere}`} data-testid="project-where">
            {address && (
              <>
                <a className="mono truncate" href={safeWebUrl(address)} target="_blank" rel="noreferrer noopener">
                  {displayUrl(address)}
                </a>
                <CopyButton text={address} label="Copy URL" />
                {secureUrl && (
                  <a className={styles.projectSecure} href={safeWebUrl(secureUrl)} target="_blank" rel="noreferrer noopener" title={secureUrl}>
                    <LockKeyhole size={13} aria-hidden /> HTTPS
                  </a>
                )}
              </>
            )}
          </div>
          <ProjectNavigation projectPath={projectPath} location={location} />
        </header>
        {error && !project && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
        {upload && <UploadCard upload={upload} onTake={uploadDropped} onDismiss={dismiss} />}
        <Suspense fallback={<SkeletonRows rows={5} height={60} />}>
          <Switch>
            {projectPages.map(({ path, page: Page }) => (
              <Route key={path} path={`/projects/:slug${path}`}>
                <Page slug={slug} />
              </Route>
            ))}
            <Route>
              <NotFound isPage={false} />
            </Route>
          </Switch>
        </Suspense>
      </div>
    </DropZone>
  )
}

/** Other pages accept other files. */
function acceptsArchives(location: string, projectPath: string): boolean {
  return location === projectPath || location.startsWith(`${projectPath}/deployments`) || location === `${projectPath}/previews`
}
