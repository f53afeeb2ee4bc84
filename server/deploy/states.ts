import type { DeploymentStatus, StepName } from '../contract/deployments.ts'

/*
 *   queued ──▶ building ──▶ deploying ──▶ ready
 *     │           │             │
 *     └───────────┴─────────────┴──▶ failed | canceled
 *
 *   An interruption (the platform ended) puts building and deploying back to queued once, then to failed.
 */

export const next: Record<DeploymentStatus, readonly DeploymentStatus[]> = {
  queued: ['building', 'failed', 'canceled'],
  building: ['deploying', 'failed', 'canceled', 'queued'],
  deploying: ['ready', 'failed', 'canceled', 'queued'],
  ready: [],
  failed: [],
  canceled: [],
}

/** The statuses from which one may be reached: what a compare-and-swap asks for. */
export function before(status: DeploymentStatus): DeploymentStatus[] {
  return (Object.keys(next) as DeploymentStatus[]).filter((from) => next[from].includes(status))
}

export const isTerminal = (status: DeploymentStatus): boolean => next[status].length === 0

/** The steps of every deployment, in order. */
export const steps: readonly StepName[] = ['clone', 'detect', 'install', 'build', 'start', 'health_check', 'route']
