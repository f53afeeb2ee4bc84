import { Download, Send } from 'lucide-react'
import { Link } from 'wouter'
import { findRuntimeTraits } from '../../../server/contract/runtimes.ts'
import type { Deployment } from '../../../server/contract/deployments.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { CopyText } from '../../components/copy.tsx'
import { formatBytes, formatDuration, shortenSha } from '../../lib/format.ts'
import { frameworkName } from '../../lib/frameworks.ts'
import { DurationBar } from '../../components/duration-bar.tsx'
import { StatusIcon, servingBadge } from '../../components/status.tsx'
import { ElapsedTime } from '../../components/time.tsx'
import { DeviceFrames } from '../screenshots/index.ts'
import { deploymentTitle, hasNumber, triggerLabel } from '../../components/deployment-line.tsx'
import { phaseSegments } from '../../lib/deployment-progress.ts'
import { usePromotionTargets } from '../../api/capabilities.ts'
import { useAppUrl } from '../../api/app-url.ts'
import styles from './overview.module.css'

/** The current deployment: commit, author, time and phase durations. */
export function CurrentDeployment({
  slug,
  project,
  deployment,
  newestFirst,
}: {
  slug: string
  project: Project
  deployment: Deployment
  newestFirst: readonly Deployment[]
}) {
  const address = useAppUrl(slug)
  const promotionTargets = usePromotionTargets()
  const badge = servingBadge(project)
  const phases = phaseSegments(deployment).filter((phase) => phase.ms > 0)
  return (
    <section className={`card ${styles.currentDeployment}`} aria-labelledby="current-deployment">
      <DeviceFrames slug={slug} deployment={deployment} address={project.status === 'crashed' ? null : address} />
      <div className={styles.currentDeploymentBody}>
        <header className="row">
          <StatusIcon badge={badge} />
          <h2 id="current-deployment">{badge.label}</h2>
          <span className="text-subtle">
            <ElapsedTime at={deployment.finished_at ?? deployment.created_at} />
          </span>
        </header>
        <p className={styles.currentDeploymentMessage}>
          <Link href={`/projects/${slug}/deployments/${deployment.id}`}>{deploymentTitle(deployment)}</Link>
        </p>
        <p className={`${styles.currentDeploymentFacts} text-muted`}>
          {deployment.number !== undefined && !hasNumber(deployment, deploymentTitle(deployment)) && <span>#{deployment.number}</span>}
          {deployment.commit_sha && <CopyText text={deployment.commit_sha} label={shortenSha(deployment.commit_sha)} />}
          {deployment.branch && <span>{deployment.branch}</span>}
          {deployment.commit_author && <span>{deployment.commit_author}</span>}
          <span>{triggerLabel(deployment, newestFirst)}</span>
          {deployment.framework && <span>{frameworkName(deployment.framework)}</span>}
          <span>{findRuntimeTraits(deployment.runtime)?.placement ?? deployment.runtime}</span>
          {deployment.image_bytes !== null && <span>{formatBytes(deployment.image_bytes)}</span>}
          {deployment.is_dirty && <span>with uncommitted changes</span>}
        </p>
        {promotionTargets.hasOthers && (
          <p>
            <Link href={`/projects/${slug}?do=${promotionTargets.pull ? 'pull' : 'promote'}`} className="button button-plain">
              {promotionTargets.pull ? <Download size={15} aria-hidden /> : <Send size={15} aria-hidden />}
              <span>{promotionTargets.pull ? 'Pull to this machine…' : 'Promote…'}</span>
            </Link>
          </p>
        )}
        {phases.length > 0 && (
          <div className={styles.currentDeploymentTime}>
            <DurationBar segments={phases} label="Time by phase" />
            <p className="text-subtle">
              {phases.map((phase) => (
                <span key={phase.name}>
                  {phase.name} {formatDuration(phase.ms)}
                </span>
              ))}
            </p>
          </div>
        )}
      </div>
    </section>
  )
}
