import { GitBranch } from 'lucide-react'
import { Link } from 'wouter'
import { usePreviews, useWatching } from '../../api/previews.ts'
import { useProject } from '../../api/projects.ts'
import type { Watching } from '../../../server/contract/previews.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { toApiError } from '../../lib/api-error.ts'
import { CopyText } from '../../components/copy.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { useScrollToSection } from '../../lib/use-scroll-to-section.ts'
import { useTitle } from '../../lib/use-title.ts'
import { ForksCard } from './forks-card.tsx'
import { PreviewRows } from './preview-rows.tsx'
import { SkippedPushes } from './skipped-pushes.tsx'
import { WatchingCard } from './watching-card.tsx'

/** Previews of a project's branches. */
export default function PreviewsPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  const { data: previews, error, refetch } = usePreviews(slug)
  const { data: watching, error: watchingError } = useWatching(slug)
  useTitle(`Previews · ${project?.name ?? slug}`)
  useScrollToSection(previews !== undefined && watching !== undefined)

  if (error && !previews) return <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
  return (
    <div className="stack">
      <section className="card" aria-labelledby="previews">
        <header className="card-header">
          <h2 id="previews">Previews</h2>
          {previews && previews.length > 0 && (
            <span className="text-subtle">
              {previews.length} {previews.length === 1 ? 'preview' : 'previews'}
            </span>
          )}
        </header>
        {previews === undefined && <SkeletonRows rows={3} height={86} />}
        {previews && previews.length > 0 && <PreviewRows slug={slug} previews={previews} />}
        {previews?.length === 0 && project && <NoPreviews project={project} watching={watching ?? null} />}
      </section>
      {/* Renders after the list above, whose height varies, to avoid a layout shift. */}
      {project?.is_connected && previews !== undefined && (
        <>
          <SkippedPushes slug={slug} />
          {watching && <WatchingCard project={project} watching={watching} />}
          {watchingError && watching === undefined && <ProblemView problem={toApiError(watchingError)} />}
        </>
      )}
      {project && previews !== undefined && (watching !== undefined || watchingError) && <ForksCard project={project} previews={previews} />}
    </div>
  )
}

function NoPreviews({ project, watching }: { project: Project; watching: Watching | null }) {
  if (!project.is_connected)
    return (
      <EmptyState icon={GitBranch} title="Previews need a repository" action={<Link href={`/projects/${project.slug}/settings`}>Open settings</Link>}>
        Each branch you push gets a preview at its own URL. Add the Git URL of the repository in the project settings.
      </EmptyState>
    )
  if (watching?.previews === false)
    return (
      <EmptyState icon={GitBranch} title="Previews are off">
        Turn them on below: each branch you push from then on gets its own URL.
      </EmptyState>
    )
  const isFolder = project.repo_url?.startsWith('file:') ?? false
  return (
    <EmptyState icon={GitBranch} title="No open previews" action={<CopyText text={isFolder ? 'git switch -c my-idea' : 'git push -u origin HEAD'} />}>
      {isFolder
        ? `Commit to a branch other than ${project.repo_branch}: it is deployed at its own URL until you delete the branch.`
        : `Push a branch other than ${project.repo_branch}: it is deployed at its own URL until you delete the branch.`}{' '}
      Existing branches get one with their next commit.
    </EmptyState>
  )
}
