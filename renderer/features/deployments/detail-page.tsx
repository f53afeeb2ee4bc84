import { useMemo, useState } from 'react'
import { useParams } from 'wouter'
import type { DeploymentDetail } from '../../../server/contract/deployments.ts'
import { problemFrom } from '../../api/problem.ts'
import { useDeployment, useDeployments, useProject } from '../../api/queries.ts'
import { CopyText } from '../../ui/copy.tsx'
import { ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { bytes, duration, exactTime } from '../../ui/format.ts'
import { frameworkName } from '../../ui/frameworks.ts'
import { useNow } from '../../ui/now.ts'
import { ScaleBar } from '../../ui/scale-bar.tsx'
import { StatusPlate, deploymentSign } from '../../ui/status.tsx'
import { useTitle } from '../frame/title.ts'
import { LogPanel } from '../logs/log-panel.tsx'
import type { LogLine } from '../logs/log-store.ts'
import { DeviceFrames } from '../pictures/device-frames.tsx'
import { useBeacon } from '../project/beacon.ts'
import { DeploymentActions } from './deployment-actions.tsx'
import { DeploymentLine, deploymentTitle, triggerWord } from './deployment-line.tsx'
import { FailureReport } from './failure-report.tsx'
import { findFault } from './fault.ts'
import { isTerminal, stepWord, stretchesOf, tookMs } from './progress.ts'
import { Timeline } from './timeline.tsx'
import { useBuildLog } from './use-build-log.ts'
import './detail-page.css'

export default function DeploymentPage({ slug }: { slug: string }) {
  const { id = '' } = useParams()
  const { data: deployment, error, refetch } = useDeployment(slug, id)
  const { data: project } = useProject(slug)
  useTitle(`${deployment ? deploymentTitle(deployment) : 'Deployment'} · ${project?.name ?? slug}`, useBeacon(deployment))
  return (
    <div className="stack">
      {error && !deployment && <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />}
      {deployment ? <Report slug={slug} deployment={deployment} key={deployment.id} /> : !error && <SkeletonRows rows={7} height={48} />}
    </div>
  )
}

function Report({ slug, deployment }: { slug: string; deployment: DeploymentDetail }) {
  const { store, stream } = useBuildLog(slug, deployment.id, true)
  const { data } = useDeployments(slug, {})
  const [hasShown, setHasShown] = useState(false)
  const [reveal, setReveal] = useState<{ line: LogLine } | null>(null)
  const ended = isTerminal(deployment.status)
  const hasPicture = deployment.screenshots.desktop || deployment.screenshots.mobile
  // Looked for once, when the log is whole: it may be long.
  const isWhole = stream.name === 'ended'
  const fault = useMemo(() => (deployment.status === 'failed' && isWhole ? findFault(store.lines, deployment) : null), [deployment, isWhole, store])
  // The line where it went wrong stands on top: what is below it waits for the moment until it is known.
  const waitsForFault = deployment.error !== null && (stream.name === 'connecting' || stream.name === 'open')
  if (waitsForFault && !hasShown) return <SkeletonRows rows={9} height={48} />
  if (!hasShown) setHasShown(true)

  return (
    <>
      <header className="card report-head">
        <div className="page-head">
          <div className="report-title">
            <StatusPlate sign={deploymentSign(deployment.status)} />
            {deployment.is_current && <span className="current">Current</span>}
            <span className="quiet">
              {triggerWord(deployment, data?.pages[0]?.deployments)}
              {deployment.target === 'preview' && ', preview'}
            </span>
          </div>
          <DeploymentActions slug={slug} deployment={deployment} />
        </div>
        <h2 className="report-message">
          <DeploymentLine deployment={deployment} />
        </h2>
        <Passage slug={slug} deployment={deployment} />
      </header>
      {deployment.error && (
        <FailureReport slug={slug} failure={deployment.error} fault={fault} onShow={fault ? () => setReveal({ line: fault.line }) : undefined} />
      )}
      <div className="report">
        <section className="card report-steps" aria-label="Progress">
          {hasPicture && (
            <div className="report-picture">
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
          reveal={reveal}
          empty={
            deployment.queue_position !== null
              ? 'It waits for its turn. The log begins with the first step.'
              : ended && stream.name === 'ended'
                ? 'This deployment left no log.'
                : 'Opening the log…'
          }
          state={
            stream.name === 'waiting'
              ? 'The stream is cut; trying again'
              : stream.name === 'refused'
                ? stream.problem.message
                : ended
                  ? 'Complete'
                  : 'Live'
          }
          groups={deployment.steps
            .filter(({ status }) => status !== 'pending' && status !== 'skipped')
            .map(({ name }) => ({ value: name, text: stepWord(name) }))}
        />
      </div>
    </>
  )
}

/** How long it took, drawn to scale; while it runs, beside what the last one took. */
function Passage({ slug, deployment }: { slug: string; deployment: DeploymentDetail }) {
  const underWay = !isTerminal(deployment.status)
  const now = useNow(underWay ? 250 : null)
  const { data } = useDeployments(slug, {})
  const before = data?.pages[0]?.deployments.find(({ id, status, finished_at }) => id !== deployment.id && status === 'ready' && finished_at !== null)
  const took = tookMs(deployment, now)
  const last = before ? tookMs(before, now) : null

  if (deployment.queue_position !== null) {
    return <p className="quiet">Number {deployment.queue_position} in the queue. It starts by itself when its turn comes.</p>
  }
  if (took === null) return null
  return (
    <div className="report-passage">
      <ScaleBar stretches={stretchesOf(deployment.steps, now)} label="Time of each step" />
      <p className="quiet nowrap">
        {underWay ? `${duration(took)} so far` : `Took ${duration(took)}`}
        {underWay && last !== null && `; the last one took ${duration(last)}`}
        {deployment.queued_ms !== null && deployment.queued_ms > 1_000 && `; waited ${duration(deployment.queued_ms)} before`}
      </p>
    </div>
  )
}

function Facts({ deployment }: { deployment: DeploymentDetail }) {
  return (
    <dl className="report-facts">
      {deployment.framework && (
        <div>
          <dt>Framework</dt>
          <dd>{frameworkName(deployment.framework)}</dd>
        </div>
      )}
      <div>
        <dt>Runtime</dt>
        <dd>{deployment.runtime === 'docker' ? 'Docker' : 'Process'}</dd>
      </div>
      {deployment.image_bytes !== null && (
        <div>
          <dt>Image</dt>
          <dd>{bytes(deployment.image_bytes)}</dd>
        </div>
      )}
      <div>
        <dt>Requested</dt>
        <dd>{exactTime(deployment.created_at)}</dd>
      </div>
      <div>
        <dt>Id</dt>
        <dd>
          <CopyText text={deployment.id} shown={`…${deployment.id.slice(-8)}`} />
        </dd>
      </div>
    </dl>
  )
}
