import { Compass, LockKeyhole } from 'lucide-react'
import { Suspense, useEffect, useRef } from 'react'
import { Link, Route, Switch, useLocation } from 'wouter'
import { problemFrom } from '../../api/problem.ts'
import { useLatest, useProject, useServing } from '../../api/queries.ts'
import { projectPages } from '../../routes.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { Empty, ProblemView, Skeleton, SkeletonRows } from '../../ui/feedback.tsx'
import { webAddress } from '../../ui/web-address.ts'
import { DropZone } from '../upload/drop-zone.tsx'
import { useShortcuts } from '../keyboard/shortcuts.ts'
import { UploadPlate } from '../upload/upload-plate.tsx'
import { useProjectUpload } from '../upload/use-project-upload.ts'
import { NotFound } from '../frame/not-found.tsx'
import { spoken, useAddress, useSecureAddress } from './address.ts'
import { ProjectActions } from './project-actions.tsx'
import { ProjectPlates } from './project-plates.tsx'
import './project-frame.css'

/** Head and tabs of one project, over whichever of its pages is open. */
export function ProjectFrame({ slug }: { slug: string }) {
  const { data: project, error, refetch } = useProject(slug)
  const address = useAddress(slug)
  const secure = useSecureAddress(slug)
  // Asked for here, so that the tabs all know what serves and what is being built.
  const { data: latest } = useLatest(slug, project !== undefined)
  const { data: serving } = useServing(slug, project !== undefined)
  const [location, go] = useLocation()
  const root = `/projects/${slug}`
  useShortcuts({ overview: () => go(root), logs: () => go(`${root}/logs`), environment: () => go(`${root}/environment`) })
  const { upload, take, dismiss } = useProjectUpload(slug)
  const tabs = useRef<HTMLElement>(null)
  // On a phone there are more tabs than room: the open one is brought into sight, the page stays where it is.
  useEffect(() => {
    const open = tabs.current?.querySelector<HTMLElement>('[aria-current]')
    if (tabs.current && open) tabs.current.scrollLeft = open.offsetLeft - (tabs.current.clientWidth - open.offsetWidth) / 2
  }, [location])

  if (error && problemFrom(error).status === 404) {
    return (
      <div className="page">
        <div className="card">
          <Empty isPage icon={Compass} title={`There is no project “${slug}”`} action={<Link href="/">To the projects</Link>}>
            It may have been deleted, or it belongs to somebody who has not shared it with you.
          </Empty>
        </div>
      </div>
    )
  }
  return (
    <DropZone
      invitation={`Drop it to deploy ${project?.name ?? slug}`}
      isOn={project !== undefined && takesArchives(location, root)}
      onDropped={take}
    >
      <div className="page">
        <header className="project-head">
          <div className="page-head">
            <div className="project-title">
              <h1 className="clip">
                {project?.name ?? (
                  <>
                    <span className="unseen">Project</span>
                    <Skeleton width={180} height={26} />
                  </>
                )}
              </h1>
              {project && <ProjectPlates project={project} serving={serving} latest={latest} />}
            </div>
            {/* On a phone they have a line of their own, which is there from the start. */}
            {project ? <ProjectActions project={project} /> : <Skeleton width={216} height="var(--button)" />}
          </div>
          <div className="row project-where">
            {address && (
              <>
                <a className="mono clip" href={webAddress(address)} target="_blank" rel="noreferrer noopener">
                  {spoken(address)}
                </a>
                <CopyButton text={address} label="Copy the address" />
                {secure && (
                  <a className="project-secure" href={webAddress(secure)} target="_blank" rel="noreferrer noopener" title={secure}>
                    <LockKeyhole size={13} aria-hidden /> HTTPS
                  </a>
                )}
              </>
            )}
          </div>
          <nav className="tabs" aria-label="Project" ref={tabs}>
            {projectPages.map(
              ({ path, tab }) =>
                tab && (
                  <Link key={path} href={`${root}${path}`} className="tab" aria-current={isAt(location, root, path) ? 'page' : undefined}>
                    {tab}
                  </Link>
                ),
            )}
          </nav>
        </header>
        {error && !project && <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />}
        {upload && <UploadPlate upload={upload} onTake={take} onDismiss={dismiss} />}
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

/** Other pages take other files. */
function takesArchives(location: string, root: string): boolean {
  return location === root || location.startsWith(`${root}/deployments`) || location === `${root}/previews`
}

function isAt(location: string, root: string, path: string): boolean {
  return path === '' ? location === root : location.startsWith(`${root}${path}`)
}
