import { Compass } from 'lucide-react'
import { Link } from 'wouter'
import { problemFrom } from '../../api/problem.ts'
import { useHomeSession } from '../../api/remotes.ts'
import { base } from '../../stores/address.ts'
import { Empty, ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { useTitle } from '../frame/title.ts'

/** The address names an instance that this window does not have, or not yet. */
export function NoInstance({ isListed, error, onRetry }: { isListed: boolean; error: Error | null; onRetry: () => void }) {
  useTitle('No such instance')
  const session = useHomeSession()
  const problem = error ?? session.error
  const again = () => {
    void session.refetch()
    onRetry()
  }
  return (
    <main className="page">
      {problem && <ProblemView problem={problemFrom(problem)} onRetry={again} />}
      {!isListed && !problem && <SkeletonRows rows={6} height={64} />}
      {isListed && (
        <div className="card">
          <Empty
            isPage
            icon={Compass}
            title="There is no such instance here"
            action={
              <span className="row">
                <Link href={`~${base}/`} className="button button-primary">
                  <span>To this machine</span>
                </Link>
                {session.data?.user.is_instance_owner && (
                  <Link href={`~${base}/instances`} className="button button-plain">
                    <span>All instances</span>
                  </Link>
                )}
              </span>
            }
          >
            {session.data?.user.is_instance_owner === false
              ? 'Other instances are the owner’s business; you see the one that you are signed in to.'
              : 'The link may be old, or the instance was removed from this dashboard. Its own data is where it was.'}
          </Empty>
        </div>
      )}
    </main>
  )
}
