import { Database } from 'lucide-react'
import { Link } from 'wouter'
import { ApiError } from '../../../server/client/api-error.ts'
import { useCapabilities } from '../../api/capabilities.ts'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { toApiError } from '../../lib/api-error.ts'

interface Props {
  slug: string
  /** There is no database, rather than that it loads. */
  isMissing: boolean
  error: Error | null
  onRetry: () => void
}

/** What is shown instead of the content of a database: that there is none, an error, or that it loads. */
export function DatabaseMissing({ slug, isMissing, error, onRetry }: Props) {
  const { is_known, has_instance_api } = useCapabilities()
  if (is_known && !has_instance_api) return <None>Hosted accounts have no database browser. Connect with psql instead.</None>
  if (isMissing)
    return (
      <None action={<Link href={`/projects/${slug}/database`}>Create a database</Link>}>
        Its tables and rows appear here once the project has one.
      </None>
    )
  if (!error)
    return (
      <div className="card">
        <SkeletonRows rows={12} height={32} />
      </div>
    )
  if (error instanceof ApiError && error.code === 'route_not_found')
    return <None>This instance runs an older Homeport, which has no database browser.</None>
  return <ProblemView problem={toApiError(error)} onRetry={onRetry} />
}

function None({ children, action }: { children: string; action?: React.ReactNode }) {
  return (
    <div className="card">
      <EmptyState icon={Database} title="No database" action={action}>
        {children}
      </EmptyState>
    </div>
  )
}
