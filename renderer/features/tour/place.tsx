import { Suspense } from 'react'
import type { Project } from '../../../server/contract/projects.ts'
import { useProjects } from '../../api/queries.ts'
import { homeId } from '../../stores/address.ts'
import { useConnection } from '../../stores/connection.ts'
import { lazyPart } from '../../ui/load-part.ts'
import { useTour } from './store.ts'

const TourCard = lazyPart(() => import('./card.tsx'))

/** Whoever has more projects knows the way. */
const few = 6

/** The first steps show in one place, the list of projects at home, from the first deployment until they are closed. */
export function TourPlace() {
  const wish = useTour((state) => state.wish)
  const isHome = useConnection(({ current }) => current.id === homeId)
  const { data, hasNextPage } = useProjects()
  if (!isHome || wish === 'closed' || !data) return null
  const all = data.pages.flatMap((page) => page.projects)
  const project = liveliest(all)
  if (!project) return null
  if (wish === 'by_itself' && (hasNextPage || all.length > few || !all.some(({ status }) => status === 'live'))) return null
  return (
    <Suspense>
      <TourCard slug={project.slug} key={project.slug} />
    </Suspense>
  )
}

function liveliest(projects: readonly Project[]): Project | undefined {
  return projects.toSorted((a, b) => Number(b.status === 'live') - Number(a.status === 'live') || (a.updated_at < b.updated_at ? 1 : -1))[0]
}
