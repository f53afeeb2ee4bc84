import { Link } from 'wouter'
import type { ApiError } from '../../../server/client/api-error.ts'
import { ProblemView } from '../../components/feedback.tsx'
import styles from './page.module.css'

/** An error; for a missing card or plan it links to the account page. */
export function PaymentProblem({ problem }: { problem: ApiError }) {
  return (
    <>
      <ProblemView problem={problem} />
      {problem.status === 402 && (
        <p className="text-muted">
          Manage your plan and card in{' '}
          <Link href="/account?at=plan" className={styles.domainLink}>
            your account
          </Link>
          .
        </p>
      )}
    </>
  )
}
