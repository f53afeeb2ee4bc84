import type { Deployment } from '../../../server/contract/deployments.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { duration } from '../../ui/format.ts'
import { useNow } from '../../ui/now.ts'
import { StatusPlate, deploymentSign, projectSign } from '../../ui/status.tsx'
import { isTerminal, tookMs } from '../deployments/progress.ts'

interface Props {
  project: Project
  /** The version that answers at the address. */
  serving: Deployment | null | undefined
  latest: Deployment | null | undefined
}

/** Whether a version serves and, beside it, whether another one is being built. */
export function ProjectPlates({ project, serving, latest }: Props) {
  const isBuilding = project.status === 'building'
  const running = isBuilding && latest && latest.target === 'production' && !isTerminal(latest.status) ? latest : null
  const isServing = Boolean(serving)
  return (
    <>
      {(isServing || !isBuilding) && <StatusPlate sign={projectSign(project, isServing)} />}
      {isBuilding && (
        <StatusPlate sign={running ? deploymentSign(running.status) : projectSign(project)}>{running && <Elapsed deployment={running} />}</StatusPlate>
      )}
    </>
  )
}

function Elapsed({ deployment }: { deployment: Deployment }) {
  const took = tookMs(deployment, useNow(1_000))
  return took === null ? null : <span className="plate-time">{took < 10_000 ? `${Math.floor(took / 1_000)} s` : duration(took)}</span>
}
