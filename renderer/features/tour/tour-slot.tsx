import { Suspense } from 'react'
import { useProjects } from '../../api/projects.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { localInstanceId } from '../../lib/instance-path.ts'
import { useConnection } from '../../stores/connection.ts'
import { lazyWithRetry } from '../../lib/load-with-retry.ts'
import { useTour } from '../../stores/tour.ts'

const TourCard = lazyWithRetry(() => import('./tour-card.tsx'))

/** More projects than this mean that the user needs no introduction. */
const maxProjects = 6

/** Shows the first steps above the local project list, from the first deployment until they are closed. */
export function TourSlot() {
  const visibility = useTour((state) => state.visibility)
  const isHome = useConnection(({ current }) => current.id === localInstanceId)
  const { data, hasNextPage } = useProjects()
  if (!isHome || visibility === 'closed' || !data) return null
  const all = data.pages.flatMap((page) => page.projects)
  const project = pickProject(all)
  if (!project) return null
  if (visibility === 'automatic' && (hasNextPage || all.length > maxProjects || !all.some(({ status }) => status === 'live'))) return null
  return (
    <Suspense>
      <TourCard slug={project.slug} key={project.slug} />
    </Suspense>
  )
}

function pickProject(projects: readonly Project[]): Project | undefined {
  return projects.toSorted(
    (a, b) => Number(b.status === 'live') - Number(a.status === 'live') || Date.parse(b.updated_at) - Date.parse(a.updated_at),
  )[0]
}
