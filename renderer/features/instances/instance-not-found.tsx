import { Compass } from 'lucide-react'
import { Link } from 'wouter'
import { useHomeSession } from '../../api/remotes.ts'
import { toApiError } from '../../lib/api-error.ts'
import { basePath } from '../../lib/instance-path.ts'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { useTitle } from '../../lib/use-title.ts'

/** The URL names an instance that this window does not know, or not yet. */
export function InstanceNotFound({ isListed, error, onRetry }: { isListed: boolean; error: Error | null; onRetry: () => void }) {
  useTitle('Instance not found')
  const session = useHomeSession()
  const problem = error ?? session.error
  const refresh = () => {
    void session.refetch()
    onRetry()
  }
  return (
    <main className="page">
      {problem && <ProblemView problem={toApiError(problem)} onRetry={refresh} />}
      {!isListed && !problem && <SkeletonRows rows={6} height={64} />}
      {isListed && (
        <div className="card">
          <EmptyState
            isPage
            icon={Compass}
            title="Instance not found"
            action={
              <span className="row">
                <Link href={`~${basePath}/`} className="button button-primary">
                  <span>Back to this machine</span>
                </Link>
                {session.data?.user.is_instance_owner && (
                  <Link href={`~${basePath}/instances`} className="button button-plain">
                    <span>All instances</span>
                  </Link>
                )}
              </span>
            }
          >
            {session.data?.user.is_instance_owner === false
              ? 'Only the owner can open other instances. You can use the one that you are signed in to.'
              : 'The link may be outdated, or the instance was removed from this dashboard. The instance itself is not affected.'}
          </EmptyState>
        </div>
      )}
    </main>
  )
}
