import type { Deployment, DeploymentStatus, DeploymentStep } from '../../server/contract/deployments.ts'
import { stepLabels } from '../../server/contract/labels.ts'

export interface DurationSegment {
  name: string
  /** Milliseconds. */
  ms: number
  state: 'done' | 'running' | 'failed'
}

export function isTerminal(status: DeploymentStatus): status is 'ready' | 'failed' | 'canceled' {
  return status === 'ready' || status === 'failed' || status === 'canceled'
}

/** Duration of a deployment since its work started, in ms; null while it is queued. */
export function deploymentDuration_ms(deployment: Deployment, now: number): number | null {
  if (deployment.started_at === null) return null
  return Math.max(0, (deployment.finished_at === null ? now : Date.parse(deployment.finished_at)) - Date.parse(deployment.started_at))
}

export function stepDuration_ms(step: DeploymentStep, now: number): number | null {
  if (step.started_at === null) return null
  return Math.max(0, (step.finished_at === null ? now : Date.parse(step.finished_at)) - Date.parse(step.started_at))
}

/** A rollback to the deployment that was already current is a restart. `newestFirst`: the deployments around it. */
export function isRestart(deployment: Deployment, newestFirst: readonly Deployment[]): boolean {
  if (deployment.trigger !== 'rollback') return false
  const previous = newestFirst.find(
    ({ target, status, created_at }) => target === 'production' && status === 'ready' && created_at < deployment.created_at,
  )
  return previous?.id === deployment.parent_id
}

/**
 * Whether a deployment reached a step. After a failure or a cancelation the API reports the remaining steps as skipped, like steps that are not
 * needed.
 */
export function wasStepReached(status: DeploymentStatus, steps: readonly DeploymentStep[], index: number): boolean {
  if (status !== 'failed' && status !== 'canceled') return true
  return steps[index]?.status !== 'skipped' || steps.slice(index + 1).some((later) => later.status !== 'skipped')
}

export function stepSegments(steps: DeploymentStep[], now: number): DurationSegment[] {
  return steps.map((step) => ({
    name: stepLabels[step.name],
    ms: stepDuration_ms(step, now) ?? 0,
    state: step.status === 'running' ? 'running' : step.status === 'failed' ? 'failed' : 'done',
  }))
}

/** The phases that a list knows of a deployment, for places without its steps. */
export function phaseSegments(deployment: Deployment): DurationSegment[] {
  const phase = (name: string, ms: number | null): DurationSegment => ({ name, ms: ms ?? 0, state: 'done' })
  return [phase('Waited', deployment.queued_ms), phase('Built', deployment.build_ms), phase('Started', deployment.deploy_ms)]
}
