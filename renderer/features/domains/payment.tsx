import { Link } from 'wouter'
import type { ApiProblem } from '../../api/problem.ts'
import { ProblemView } from '../../ui/feedback.tsx'

/** What went wrong; and where it is for want of a card or a plan, the way to both. */
export function Payment({ problem }: { problem: ApiProblem }) {
  return (
    <>
      <ProblemView problem={problem} />
      {problem.status === 402 && (
        <p className="quiet">
          Plan and card are looked after in{' '}
          <Link href="/account?at=plan" className="domain-link">
            your account
          </Link>
          .
        </p>
      )}
    </>
  )
}
