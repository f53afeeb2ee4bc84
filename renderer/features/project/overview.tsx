import { Ship } from 'lucide-react'
import { Link } from 'wouter'
import type { Project } from '../../../server/contract/projects.ts'
import { problemFrom } from '../../api/problem.ts'
import { usePreviews } from '../../api/previews.ts'
import { useDeployments, useLatest, useProject, useServing } from '../../api/queries.ts'
import { Empty, ProblemView, Skeleton, SkeletonRows } from '../../ui/feedback.tsx'
import { exactTime } from '../../ui/format.ts'
import { Mark, projectSign } from '../../ui/status.tsx'
import { useTogether } from '../../ui/together.ts'
import { Ago } from '../../ui/time.tsx'
import { DeploymentRows } from '../deployments/deployment-rows.tsx'
import { isTerminal } from '../deployments/progress.ts'
import { useTitle } from '../frame/title.ts'
import { useBeacon } from './beacon.ts'
import { InService } from './in-service.tsx'
import { Fact } from './fact.tsx'
import { LatestNews } from './latest-news.tsx'
import { OpenPreviews } from './open-previews.tsx'
import { Traffic } from './traffic.tsx'
import { WhenIdle } from './when-idle.tsx'
import './overview.css'

const recent = 5

export function Overview({ slug }: { slug: string }) {
  const found = useProject(slug)
  const { data: project } = found
  const newest = useLatest(slug, project !== undefined)
  const current = useServing(slug)
  const all = useDeployments(slug, {})
  const areComing = useTogether([found, newest, current, usePreviews(slug), all])
  const { data: latest } = newest
  const { data: serving } = current
  const { data: list, error, refetch } = all
  useTitle(project?.name ?? slug, useBeacon(latest))
  const deployments = list?.pages[0]?.deployments ?? []

  if (error) return <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />
  if (list && deployments.length === 0) {
    return (
      <div className="card">
        <Empty icon={Ship} title="Not deployed yet">
          {project?.is_connected
            ? 'Press Deploy: Homeport fetches the branch, builds it and gives it its address.'
            : 'Press Deploy and point at the folder of the app, or drop a .zip or .tar.gz of it here.'}
        </Empty>
      </div>
    )
  }
  // What is on top decides where the rest lies: it is drawn when all of it is known, so that nothing moves under the pointer.
  if (!project || areComing) return <OverviewSkeleton />
  const isNews = latest && latest.id !== serving?.id && (!isTerminal(latest.status) || latest.status === 'failed')
  return (
    <div className="overview">
      <div className="stack">
        {isNews && <LatestNews slug={slug} deployment={latest} serves={serving !== null && serving !== undefined} />}
        {!isNews && <StateNote project={project} />}
        {serving && <InService slug={slug} project={project} deployment={serving} newestFirst={deployments} />}
        {serving && <Traffic slug={slug} />}
        {project.is_connected && <OpenPreviews slug={slug} />}
        <section className="card" aria-labelledby="recent">
          <header className="card-head">
            <h2 id="recent">Deployments</h2>
            <Link href={`/projects/${slug}/deployments`}>All deployments</Link>
          </header>
          <DeploymentRows slug={slug} deployments={deployments.slice(0, recent)} />
        </section>
      </div>
      <Facts project={project} isServing={Boolean(serving)} />
    </div>
  )
}

function OverviewSkeleton() {
  return (
    <div className="overview">
      <div className="card in-service">
        <Skeleton height={220} />
        <SkeletonRows rows={3} height={44} />
      </div>
      <div className="card">
        <SkeletonRows rows={6} height={56} />
      </div>
    </div>
  )
}

/** A state that is no deployment's: what it means, and the way out of it. */
function StateNote({ project }: { project: Project }) {
  if (project.status !== 'inactive' && project.status !== 'crashed') return null
  const sign = projectSign(project)
  return (
    <section className={`card news tone-${sign.tone}`} aria-label={sign.word}>
      <Mark sign={sign} />
      {project.status === 'inactive' ? (
        <div>
          <h2>Stopped</h2>
          <p className="quiet">Nothing runs, and its address says so to whoever asks. Deploy brings it back.</p>
        </div>
      ) : (
        <div>
          <h2>The app keeps exiting</h2>
          <p className="quiet">
            It was started again several times and did not stay up. Its log says what it printed last; a deployment starts it anew.
          </p>
        </div>
      )}
      {project.status === 'crashed' && (
        <Link href={`/projects/${project.slug}/logs`} className="button button-plain">
          <span>Read the log</span>
        </Link>
      )}
    </section>
  )
}

function Facts({ project, isServing }: { project: Project; isServing: boolean }) {
  return (
    <aside className="card facts" aria-label="Facts">
      <dl>
        <Fact name="State">{projectSign(project, isServing).word}</Fact>
        <Fact name="Repository">
          {project.repo_url ? <span className="mono">{project.repo_url}</span> : 'None; deployed from a folder or an archive'}
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
        <WhenIdle project={project} />
        <Fact name="Last request">{project.last_request_at ? <Ago at={project.last_request_at} /> : 'None yet'}</Fact>
        <Fact name="Created">
          <time dateTime={project.created_at}>{exactTime(project.created_at)}</time>
        </Fact>
      </dl>
    </aside>
  )
}
