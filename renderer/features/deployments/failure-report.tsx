import { CircleAlert, Database, Plus } from 'lucide-react'
import { Link } from 'wouter'
import type { DeploymentDetail, DeploymentFailure } from '../../../server/contract/deployments.ts'
import { Button } from '../../components/button.tsx'
import { CopyTextButton } from '../../components/copy.tsx'
import { helpTopicForFailure } from '../../lib/help-topic-for.ts'
import { HelpLink } from '../../components/help-link.tsx'
import { Prose } from '../../components/prose.tsx'
import { stripAnsi } from '../../lib/ansi.ts'
import type { LogLine } from '../logs/index.ts'
import { formatIssue } from './format-issue.ts'
import styles from './detail-page.module.css'

/** Why a deployment failed, how to fix it, and the error line. */
export function FailureReport({
  slug,
  deployment,
  failure,
  errorLine,
  onShow,
}: {
  slug: string
  deployment: DeploymentDetail
  failure: DeploymentFailure
  errorLine: { line: LogLine; context: LogLine[] } | null
  onShow: (() => void) | undefined
}) {
  const missing = /variable is missing: (\w+)/.exec(failure.message)?.[1]
  return (
    <section className={styles.failure} data-testid="failure" aria-labelledby="failure">
      <CircleAlert size={19} aria-hidden />
      <div className={styles.failureBody}>
        <h2 id="failure">
          <Prose text={failure.message} />
        </h2>
        <p>
          <Prose text={errorLine ? (failure.hint.split(' Last output:\n')[0] ?? '') : failure.hint} />
        </p>
        {errorLine && (
          <figure className={styles.failureLines} aria-label="Log excerpt">
            {errorLine.context.map((line) => (
              <div
                key={line.number}
                className={line === errorLine.line ? styles.failureLine : styles.failureNear}
                data-testid={line === errorLine.line ? 'failure-line' : undefined}
              >
                <span className={styles.failureNumber}>{line.number}</span>
                <code>{stripAnsi(line.text).slice(0, 400)}</code>
              </div>
            ))}
          </figure>
        )}
        <p className={styles.failureFoot}>
          {missing === 'DATABASE_URL' && (
            <Link href={`/projects/${slug}/database`} className="button button-primary">
              <Database size={15} aria-hidden /> Create a database
            </Link>
          )}
          {missing && (
            <Link href={`/projects/${slug}/environment?do=add&key=${missing}`} className="button button-plain">
              <Plus size={15} aria-hidden /> Add {missing}
            </Link>
          )}
          <code>{failure.code}</code>
          <HelpLink topic={helpTopicForFailure(failure)}>How to fix it</HelpLink>
          {onShow && (
            <Button kind="bare" onClick={onShow}>
              Show in log
            </Button>
          )}
          <CopyTextButton getText={() => formatIssue(deployment, errorLine?.context ?? [])}>Copy for an issue</CopyTextButton>
        </p>
      </div>
    </section>
  )
}
