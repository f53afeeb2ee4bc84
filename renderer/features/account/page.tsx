import { useOffered } from '../../api/offered.ts'
import { useInstance } from '../../api/queries.ts'
import { useBilling } from '../../api/billing.ts'
import { useTeam } from '../../api/team.ts'
import { useTokens } from '../../api/tokens.ts'
import { SkeletonRows } from '../../ui/feedback.tsx'
import { useTogether } from '../../ui/together.ts'
import { useTitle } from '../frame/title.ts'
import { PlanAndCard } from './plan-and-card.tsx'
import { Members } from './members.tsx'
import { Tokens } from './tokens.tsx'
import './page.css'

/** What is mine, whatever the instance: the programs that act for me, and what I pay for. */
export default function AccountPage() {
  useTitle('Account')
  const session = useInstance().data
  const offered = useOffered()
  // The parts are drawn together: none of them pushes another one down.
  const isComing = useTogether([useInstance(), useTokens(), useBilling(), useTeam(offered.instance)])
  return (
    <div className="page">
      <header className="page-head">
        <h1>Account</h1>
        {session && <p className="quiet clip">{session.user.email}</p>}
      </header>
      {isComing ? (
        <SkeletonRows rows={8} height={72} />
      ) : (
        <>
          <Tokens />
          <PlanAndCard />
          {offered.instance && <Members />}
        </>
      )}
    </div>
  )
}
