import { createHash } from 'node:crypto'
import type { DeploymentTarget, RuntimeName } from '../contract/deployments.ts'
import type { Artifact, ReplicaExit, Replica } from '../runtime/runtime.ts'
import type { SecretMask } from './secret-mask.ts'

/** How an app sleeps. The edge holds its requests by the route `asleep` from the very tick in which this is set. */
export interface SleepState {
  /** By the monotonic clock. */
  since: number
  /** `stopped` has no instance any more. */
  mode: 'frozen' | 'stopped'
  /** The end of what is being done to the instance (freezing, stopping): nothing else may be done to it before. Never rejects. */
  transition: Promise<void>
  isStopping: boolean
  isWaking: boolean
  memory_mb: number
}

/** What is needed to start one deployment, again and again. */
export interface AppSpec {
  project_id: string
  deployment_id: string
  target: DeploymentTarget
  branch: string | null
  runtime: RuntimeName
  artifact: Artifact
  /** The port that the app was last found on, when that is not PORT. */
  listen_port: number | null
  memory_mb: number
  always_warm: boolean
  variables: Record<string, string>
  mask: SecretMask
}

/** The runtime log that an app writes into: the project's, or that of a preview. */
export function getRuntimeLogName({ project_id, target, branch }: Pick<AppSpec, 'project_id' | 'target' | 'branch'>): string {
  if (target === 'production') return project_id
  return `${project_id}_${createHash('sha256')
    .update(branch ?? '')
    .digest('hex')
    .slice(0, 12)}`
}

/** A started instance that gets no traffic yet. */
export interface Candidate {
  spec: AppSpec
  /** null for a static site, which the edge serves itself. */
  replica: Replica | null
  exited: Promise<ReplicaExit>
}

/** What serves a slot, or would if it could. */
export interface SupervisedApp {
  spec: AppSpec
  /** null while there is no instance: it is being brought back, has crashed, or sleeps without one. */
  candidate: Candidate | null
  /** Settles when an attempt to bring it back has ended; null while there is none. */
  restarting: Promise<void> | null
  /** When it ended by itself, for the back-off and for `crashed`. */
  recentExits: number[]
  stopController: AbortController
  always_warm: boolean
  sleep: SleepState | null
  /** When it was last woken from being frozen, by the monotonic clock. */
  thawed_at: number
  /** Another has its traffic, for now or for good: it changes no route. */
  isSuperseded: boolean
}
