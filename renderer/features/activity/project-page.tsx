import { useProject } from '../../api/projects.ts'
import { useTitle } from '../../lib/use-title.ts'
import { ActivityView } from './activity-view.tsx'

export default function ProjectActivityPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  useTitle(`Activity · ${project?.name ?? slug}`)
  return <ActivityView slug={slug} />
}
