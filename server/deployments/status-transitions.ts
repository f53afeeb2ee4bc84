import type { DeploymentStatus } from '../contract/deployments.ts'

/*
 *   queued ──▶ building ──▶ deploying ──▶ ready
 *     │           │             │
 *     └───────────┴─────────────┴──▶ failed | canceled
 *
 *   An interruption (the platform ended) puts building and deploying back to queued once, then to failed.
 */

export const transitions: Record<DeploymentStatus, readonly DeploymentStatus[]> = {
  queued: ['building', 'failed', 'canceled'],
  building: ['deploying', 'failed', 'canceled', 'queued'],
  deploying: ['ready', 'failed', 'canceled', 'queued'],
  ready: [],
  failed: [],
  canceled: [],
}

/** The statuses from which a status can be reached, for a compare-and-swap. */
export function statusesBefore(status: DeploymentStatus): DeploymentStatus[] {
  return (Object.keys(transitions) as DeploymentStatus[]).filter((from) => transitions[from].includes(status))
}

export const isTerminal = (status: DeploymentStatus): boolean => transitions[status].length === 0
