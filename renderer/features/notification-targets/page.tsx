import { useProject } from '../../api/projects.ts'
import { useTitle } from '../../lib/use-title.ts'
import { NotificationSections } from './sections.tsx'

/** Where a project sends notifications. */
export default function NotificationsPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  useTitle(`Notifications · ${project?.name ?? slug}`)
  return (
    <div className="stack">
      <NotificationSections slug={slug} />
    </div>
  )
}
