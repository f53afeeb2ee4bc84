import { useProject } from '../../api/projects.ts'
import { useTitle } from '../../lib/use-title.ts'
import { DomainsView } from './domains-view.tsx'

/** Custom domains of a project. */
export default function ProjectDomainsPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  useTitle(`Domains · ${project?.name ?? slug}`)
  return <DomainsView slug={slug} />
}
