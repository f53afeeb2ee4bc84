import { useProject } from '../../api/queries.ts'
import { useTitle } from '../layout/use-title.ts'
import { DomainsView } from './domains-view.tsx'

/** The names that a project answers to, besides the one that it has of the instance. */
export default function ProjectDomainsPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  useTitle(`Domains · ${project?.name ?? slug}`)
  return <DomainsView slug={slug} />
}
