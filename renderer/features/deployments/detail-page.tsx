import { useMemo, useState } from 'react'
import { useParams } from 'wouter'
import { useDeployment, useDeployments } from '../../api/deployments.ts'
import { useBuildLogDownload } from '../../api/downloads.ts'
import { useProject } from '../../api/projects.ts'
import { findRuntimeTraits } from '../../../server/contract/runtimes.ts'
import type { DeploymentDetail } from '../../../server/contract/deployments.ts'
import { stepLabels } from '../../../server/contract/labels.ts'
import { toApiError } from '../../lib/api-error.ts'
import { CopyText } from '../../components/copy.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { formatBytes, formatDuration, formatDateTime } from '../../lib/format.ts'
import { frameworkName } from '../../lib/frameworks.ts'
import { useNow } from '../../lib/use-now.ts'
import { DurationBar } from '../../components/duration-bar.tsx'
import { StatusBadge, deploymentBadge } from '../../components/status.tsx'
import { useTitle } from '../../lib/use-title.ts'
import { LogPanel, type LogLine } from '../logs/index.ts'
import { DeviceFrames } from '../screenshots/index.ts'
import { useFaviconStatus } from '../../lib/use-favicon-status.ts'
import { DeploymentActions } from './deployment-actions.tsx'
import { DeploymentLine, deploymentTitle, triggerLabel } from '../../components/deployment-line.tsx'
import { FailureReport } from './failure-report.tsx'
import { findErrorLine } from '../../../server/client/error-line.ts'
import { stripAnsi } from '../../lib/ansi.ts'
import { isTerminal, stepSegments, deploymentDuration_ms } from '../../lib/deployment-progress.ts'
import { Timeline } from './timeline.tsx'
import { useBuildLog } from './use-build-log.ts'
import styles from './detail-page.module.css'

export default function DeploymentPage({ slug }: { slug: string }) {
  const { id = '' } = useParams()
  const { data: deployment, error, refetch } = useDeployment(slug, id)
  const { data: project } = useProject(slug)
  useTitle(
    `${deployment?.number === undefined ? '' : `#${deployment.number} `}${deployment ? deploymentTitle(deployment) : 'Deployment'} · ${project?.name ?? slug}`,
    useFaviconStatus(deployment),
  )
  return (
    <div className="stack">
      {error && !deployment && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      {deployment ? <DeploymentReport slug={slug} deployment={deployment} key={deployment.id} /> : !error && <SkeletonRows rows={7} height={48} />}
    </div>
  )
}

function DeploymentReport({ slug, deployment }: { slug: string; deployment: DeploymentDetail }) {
  const { store, stream } = useBuildLog(slug, deployment.id, true)
  const download = useBuildLogDownload(slug, deployment.id)
  const { data } = useDeployments(slug, {})
  const [hasShown, setHasShown] = useState(false)
  const [reveal, setReveal] = useState<{ line: LogLine } | null>(null)
  const ended = isTerminal(deployment.status)
  const hasScreenshot = deployment.screenshots.desktop || deployment.screenshots.mobile
  // Searched once, when the log is complete, because the log may be long.
  const isLogComplete = stream.name === 'ended'
  const errorLine = useMemo(
    () => (deployment.status === 'failed' && isLogComplete ? findErrorLine(store.lines, deployment, stripAnsi) : null),
    [deployment, isLogComplete, store],
  )
  // The error line is shown at the top, so the content below waits until it is known.
  const isWaitingForErrorLine = deployment.error !== null && (stream.name === 'connecting' || stream.name === 'open')
  if (isWaitingForErrorLine && !hasShown) return <SkeletonRows rows={9} height={48} />
  if (!hasShown) setHasShown(true)

  return (
    <>
      <header className={`card ${styles.reportHead}`} data-testid="report-head">
        <div className="page-header">
          <div className={styles.reportTitle}>
            <StatusBadge badge={deploymentBadge(deployment.status)} />
            {deployment.is_current && <span className="current">Current</span>}
            <span className="text-muted">
              {triggerLabel(deployment, data?.pages[0]?.deployments)}
              {deployment.target === 'preview' && ', preview'}
            </span>
          </div>
          <DeploymentActions slug={slug} deployment={deployment} />
        </div>
        <h2 className={styles.reportMessage} data-testid="report-message">
          <DeploymentLine deployment={deployment} />
        </h2>
        <DeploymentTiming slug={slug} deployment={deployment} />
      </header>
      {deployment.error && (
        <FailureReport
          slug={slug}
          deployment={deployment}
          failure={deployment.error}
          errorLine={errorLine}
          onShow={errorLine ? () => setReveal({ line: errorLine.line }) : undefined}
        />
      )}
      <div className={styles.report}>
        <section className={`card ${styles.reportSteps}`} aria-label="Progress">
          {hasScreenshot && (
            <div className={styles.reportScreenshot}>
              <DeviceFrames slug={slug} deployment={deployment} address={deployment.is_current ? deployment.url : null} />
            </div>
          )}
          <Timeline deployment={deployment} />
          <Facts deployment={deployment} />
        </section>
        <LogPanel
          store={store}
          label="Build log"
          file={`${slug}-${deployment.id}.log`}
          download={download}
          reveal={reveal}
          empty={
            deployment.queue_position !== null
              ? 'Waiting in the queue. The log starts with the first step.'
              : ended && stream.name === 'ended'
                ? 'This deployment has no log.'
                : 'Opening the log…'
          }
          state={
            stream.name === 'waiting'
              ? 'Connection lost; reconnecting…'
              : stream.name === 'refused'
                ? stream.problem.message
                : ended
                  ? 'Complete'
                  : 'Live'
          }
          groups={deployment.steps
            .filter(({ status }) => status !== 'pending' && status !== 'skipped')
            .map(({ name }) => ({ value: name, text: stepLabels[name] }))}
        />
      </div>
    </>
  )
}

/** Duration of the steps, to scale; while running, next to the previous deployment's duration. */
function DeploymentTiming({ slug, deployment }: { slug: string; deployment: DeploymentDetail }) {
  const isRunning = !isTerminal(deployment.status)
  const now = useNow(isRunning ? 250 : null)
  const { data } = useDeployments(slug, {})
  const previous = data?.pages[0]?.deployments.find(
    ({ id, status, finished_at }) => id !== deployment.id && status === 'ready' && finished_at !== null,
  )
  const duration_ms = deploymentDuration_ms(deployment, now)
  const previousDuration_ms = previous ? deploymentDuration_ms(previous, now) : null

  if (deployment.queue_position !== null) {
    return <p className="text-muted">Position {deployment.queue_position} in the queue. It starts automatically.</p>
  }
  if (duration_ms === null) return null
  return (
    <div className={styles.reportTiming}>
      <DurationBar segments={stepSegments(deployment.steps, now)} label="Duration of each step" />
      <p className="text-muted nowrap">
        {isRunning ? `${formatDuration(duration_ms)} so far` : `Took ${formatDuration(duration_ms)}`}
        {isRunning && previousDuration_ms !== null && `; the previous one took ${formatDuration(previousDuration_ms)}`}
        {deployment.queued_ms !== null && deployment.queued_ms > 1_000 && `; ${formatDuration(deployment.queued_ms)} in the queue`}
      </p>
    </div>
  )
}

function Facts({ deployment }: { deployment: DeploymentDetail }) {
  return (
    <dl className={styles.reportFacts}>
      {deployment.framework && (
        <div>
          <dt>Framework</dt>
          <dd>{frameworkName(deployment.framework)}</dd>
        </div>
      )}
      <div>
        <dt>Runtime</dt>
        <dd>{findRuntimeTraits(deployment.runtime)?.label ?? deployment.runtime}</dd>
      </div>
      {deployment.image_bytes !== null && (
        <div>
          <dt>Image</dt>
          <dd>{formatBytes(deployment.image_bytes)}</dd>
        </div>
      )}
      <div>
        <dt>Requested</dt>
        <dd>{formatDateTime(deployment.created_at)}</dd>
      </div>
      <div>
        <dt>ID</dt>
        <dd>
          <CopyText text={deployment.id} label={`…${deployment.id.slice(-8)}`} />
        </dd>
      </div>
    </dl>
  )
}
