import type { Deployment } from '../../../server/contract/deployments.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { duration } from '../../ui/format.ts'
import { useNow } from '../../ui/now.ts'
import { StatusPlate, deploymentSign, projectSign } from '../../ui/status.tsx'
import { isTerminal, tookMs } from '../deployments/progress.ts'
import './project-plates.css'

interface Props {
  project: Project
  /** The version that answers at the address. */
  serving: Deployment | null | undefined
  latest: Deployment | null | undefined
}

/** Whether a version serves and, beside it, whether another one is being built. */
export function ProjectPlates({ project, serving, latest }: Props) {
  const isServing = Boolean(serving)
  if (project.status !== 'building') return <StatusPlate sign={projectSign(project, isServing)} />
  const running = latest && latest.target === 'production' && !isTerminal(latest.status) ? latest : null
  return (
    <span className="project-plates">
      {isServing && <StatusPlate sign={projectSign(project, isServing)} />}
      <StatusPlate sign={running ? deploymentSign(running.status) : projectSign(project)}>
        {/* Its place is kept until the deployment is known. */}
        {running ? <Elapsed deployment={running} /> : latest === undefined && <span className="plate-time plate-time-unknown">0 s</span>}
      </StatusPlate>
    </span>
  )
}

function Elapsed({ deployment }: { deployment: Deployment }) {
  const took = tookMs(deployment, useNow(1_000))
  return took === null ? null : <span className="plate-time">{took < 10_000 ? `${Math.floor(took / 1_000)} s` : duration(took)}</span>
}
