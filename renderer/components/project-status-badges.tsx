import type { Deployment } from '../../server/contract/deployments.ts'
import type { Project } from '../../server/contract/projects.ts'
import { formatDuration } from '../lib/format.ts'
import { useNow } from '../lib/use-now.ts'
import { StatusBadge, deploymentBadge, projectBadge } from './status.tsx'
import { isTerminal, deploymentDuration_ms } from '../lib/deployment-progress.ts'
import './project-status-badges.css'

interface Props {
  project: Project
  /** Badge of the live version. */
  serving: Deployment | null | undefined
  latest: Deployment | null | undefined
}

/** Whether a version is live, and whether another one is being built. */
export function ProjectStatusBadges({ project, serving, latest }: Props) {
  const isServing = Boolean(serving)
  if (project.status !== 'building') return <StatusBadge badge={projectBadge(project, isServing)} />
  const running = latest && latest.target === 'production' && !isTerminal(latest.status) ? latest : null
  return (
    <span className="project-badges">
      {isServing && <StatusBadge badge={projectBadge(project, isServing)} />}
      <StatusBadge badge={running ? deploymentBadge(running.status) : projectBadge(project)}>
        {/* Reserves the space until the deployment is known. */}
        {running ? <Elapsed deployment={running} /> : latest === undefined && <span className="badge-time badge-time-unknown">0 s</span>}
      </StatusBadge>
    </span>
  )
}

function Elapsed({ deployment }: { deployment: Deployment }) {
  const duration_ms = deploymentDuration_ms(deployment, useNow(1_000))
  return duration_ms === null ? null : (
    <span className="badge-time">{duration_ms < 10_000 ? `${Math.floor(duration_ms / 1_000)} s` : formatDuration(duration_ms)}</span>
  )
}
