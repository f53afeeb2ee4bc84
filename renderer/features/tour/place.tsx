import { Suspense, lazy } from 'react'
import type { Project } from '../../../server/contract/projects.ts'
import { useProjects } from '../../api/queries.ts'
import { useKept } from './store.ts'

const TourCard = lazy(() => import('./card.tsx'))

/** Whoever has more projects knows the way. */
const few = 6

/** Where the first steps show: once something was deployed, until they are closed. `slug`: on the page of this project. */
export function TourPlace({ slug }: { slug?: string }) {
  const { wish } = useKept()
  const { data, hasNextPage } = useProjects()
  if (wish === 'closed' || !data) return null
  const all = data.pages.flatMap((page) => page.projects)
  const project = slug === undefined ? liveliest(all) : all.find((one) => one.slug === slug)
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
