import { Send } from 'lucide-react'
import { ApiError } from '../../../server/client/api-error.ts'
import { useCapabilities } from '../../api/capabilities.ts'
import { useLogDrains } from '../../api/log-drains.ts'
import { useProject } from '../../api/projects.ts'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { toApiError } from '../../lib/api-error.ts'
import { useTitle } from '../../lib/use-title.ts'
import { DrainList } from './drain-list.tsx'

/** Where the logs of a project are sent. */
export default function LogDrainsPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  useTitle(`Log drains · ${project?.name ?? slug}`)
  const { is_known, has_instance_api } = useCapabilities()
  const { data, error, refetch } = useLogDrains(slug)
  if ((is_known && !has_instance_api) || (error instanceof ApiError && error.code === 'route_not_found'))
    return (
      <div className="card">
        <EmptyState icon={Send} title="No log drains">
          This instance does not send logs. A newer Homeport on your own machine does.
        </EmptyState>
      </div>
    )
  if (error) return <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
  if (!data) return <SkeletonRows rows={3} height={96} />
  return (
    <div className="stack">
      <DrainList slug={slug} drains={data.log_drains} />
    </div>
  )
}
