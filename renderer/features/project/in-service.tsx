import { Download, Send } from 'lucide-react'
import { Link } from 'wouter'
import type { Deployment } from '../../../server/contract/deployments.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { CopyText } from '../../ui/copy.tsx'
import { bytes, duration, shortSha } from '../../ui/format.ts'
import { frameworkName } from '../../ui/frameworks.ts'
import { ScaleBar } from '../../ui/scale-bar.tsx'
import { Mark, servingSign } from '../../ui/status.tsx'
import { Since } from '../../ui/time.tsx'
import { DeviceFrames } from '../pictures/device-frames.tsx'
import { deploymentTitle, triggerWord } from '../deployments/deployment-line.tsx'
import { phasesOf } from '../deployments/progress.ts'
import { useCrossings } from '../promote/crossings.ts'
import { useAddress } from './address.ts'

/** What serves now: which commit, by whom, since when, and what it took to get there. */
export function InService({
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
  const address = useAddress(slug)
  const crossings = useCrossings()
  const sign = servingSign(project)
  const phases = phasesOf(deployment).filter((phase) => phase.ms > 0)
  return (
    <section className="card in-service" aria-labelledby="in-service">
      <DeviceFrames slug={slug} deployment={deployment} address={project.status === 'crashed' ? null : address} />
      <div className="in-service-words">
        <header className="row">
          <Mark sign={sign} />
          <h2 id="in-service">{sign.word}</h2>
          <span className="faint">
            <Since at={deployment.finished_at ?? deployment.created_at} />
          </span>
        </header>
        <p className="in-service-message">
          <Link href={`/projects/${slug}/deployments/${deployment.id}`}>{deploymentTitle(deployment)}</Link>
        </p>
        <p className="in-service-facts quiet">
          {deployment.commit_sha && <CopyText text={deployment.commit_sha} shown={shortSha(deployment.commit_sha)} />}
          {deployment.branch && <span>{deployment.branch}</span>}
          {deployment.commit_author && <span>{deployment.commit_author}</span>}
          <span>{triggerWord(deployment, newestFirst)}</span>
          {deployment.framework && <span>{frameworkName(deployment.framework)}</span>}
          <span>{deployment.runtime === 'docker' ? 'in Docker' : 'as a process'}</span>
          {deployment.image_bytes !== null && <span>{bytes(deployment.image_bytes)}</span>}
          {deployment.is_dirty && <span>with changes that no commit holds</span>}
        </p>
        {crossings.others && (
          <p>
            <Link href={`/projects/${slug}?do=${crossings.pull ? 'pull' : 'promote'}`} className="button button-plain">
              {crossings.pull ? <Download size={15} aria-hidden /> : <Send size={15} aria-hidden />}
              <span>{crossings.pull ? 'Pull to this machine…' : 'Promote…'}</span>
            </Link>
          </p>
        )}
        {phases.length > 0 && (
          <div className="in-service-time">
            <ScaleBar stretches={phases} label="Time it took" />
            <p className="faint">
              {phases.map((phase) => (
                <span key={phase.name}>
                  {phase.name} {duration(phase.ms)}
                </span>
              ))}
            </p>
          </div>
        )}
      </div>
    </section>
  )
}
