import { Link } from 'wouter'
import { useInstanceSession } from '../../api/instance.ts'
import { useCapabilities } from '../../api/capabilities.ts'
import { useBilling } from '../../api/billing.ts'
import { useTeam } from '../../api/team.ts'
import { useTokens } from '../../api/tokens.ts'
import { SkeletonRows } from '../../components/feedback.tsx'
import { useInitialLoading } from '../../lib/use-initial-loading.ts'
import { useTitle } from '../../lib/use-title.ts'
import { PlanAndCard } from './plan-and-card.tsx'
import { Members } from './members.tsx'
import { Tokens } from './tokens.tsx'

/** The user's account: members, API tokens, plan and card. */
export default function AccountPage() {
  useTitle('Account')
  const session = useInstanceSession().data
  const capabilities = useCapabilities()
  // All sections render together, so that none of them shifts another.
  const isLoading = useInitialLoading([useInstanceSession(), useTokens(), useBilling(), useTeam(capabilities.has_instance_api)])
  return (
    <div className="page">
      <header className="page-header">
        <h1>Account</h1>
        {session && <p className="text-muted truncate">{session.user.email}</p>}
      </header>
      {isLoading ? (
        <SkeletonRows rows={8} height={72} />
      ) : (
        <>
          <Tokens />
          <PlanAndCard />
          {capabilities.has_instance_api && <Members />}
          {capabilities.has_instance_api && (
            <p className="text-muted">
              <Link href="/account/notifications">Notifications</Link> about all projects by email, webhook or Slack.
            </p>
          )}
        </>
      )}
    </div>
  )
}
