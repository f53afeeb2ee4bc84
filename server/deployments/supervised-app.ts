import { createHash } from 'node:crypto'
import type { Autoscaling } from '../contract/autoscaling.ts'
import type { DeploymentTarget } from '../contract/deployments.ts'
import type { ProjectConfig, ServiceConfig } from '../contract/project-config.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import type { Artifact, Endpoint, ReplicaExit, Replica, ServiceRequest } from '../runtime/runtime.ts'
import type { HealthRequest } from './health-request.ts'
import type { ServiceSpec } from './service-spec.ts'
import type { SecretMask } from './secret-mask.ts'

/** The sleep of an app. The edge holds its requests through the route `asleep` from the tick in which this is set. */
export interface SleepState {
  /** By the monotonic clock. */
  since: number
  /** `stopped`: the replica has been removed. */
  mode: 'frozen' | 'stopped'
  /** Resolves when the current operation on the replica (freeze, stop) has ended; no other operation may start before. Never rejects. */
  transition: Promise<void>
  isStopping: boolean
  isWaking: boolean
  memory_mb: number
}

/** The data needed to start a deployment's app repeatedly. */
export interface AppSpec {
  project_id: string
  deployment_id: string
  target: DeploymentTarget
  branch: string | null
  runtime: RuntimeName
  /** The service that answers requests; null if the version has none. */
  artifact: Artifact | null
  /** The name of the service that answers requests; null for a version without services. */
  main_service: string | null
  main_config: ServiceConfig | null
  release: ProjectConfig['release']
  /** How that service starts, when there are several. */
  service?: ServiceRequest
  /** The other services. */
  services: ServiceSpec[]
  /** Additional ports of the app, each with an address. */
  ports: number[]
  /** The port on which the app was found before, if it is not PORT. */
  listen_port: number | null
  environment_id: string
  memory_mb: number
  cpus: number
  health: HealthRequest
  always_warm: boolean
  /** How many replicas of the main service run. */
  replicas: number
  /** The range within which autoscaling changes that number; null: off. */
  autoscaling: Autoscaling | null
  /** Whether a cookie keeps a browser at its replica. */
  sticky_sessions: boolean
  /** Labels that a node must have, as `key=value`. */
  node_labels?: readonly string[]
  variables: Record<string, string>
  mask: SecretMask
}

/** The environment of an app: the project's production, or a preview of a branch. Its runtime log has this name. */
export function getEnvironmentId({ project_id, target, branch }: Pick<AppSpec, 'project_id' | 'target' | 'branch'>): string {
  if (target === 'production') return project_id
  return `${project_id}_${createHash('sha256')
    .update(branch ?? '')
    .digest('hex')
    .slice(0, 12)}`
}

/** Identifies the place that one live app has: the project's production, or the preview of a branch. */
export const getSlotKey = (spec: Pick<AppSpec, 'project_id' | 'target' | 'branch'>): string =>
  `${spec.project_id}\0${spec.target}\0${spec.target === 'preview' ? (spec.branch ?? '') : ''}`

/** An environment as requests name it. */
export interface EnvironmentName {
  project_id: string
  /** Of a preview; undefined for production. */
  branch: string | undefined
}

export const nameEnvironment = ({ project_id, branch }: EnvironmentName): string =>
  getEnvironmentId({ project_id, target: branch === undefined ? 'production' : 'preview', branch: branch ?? null })

/** The runtime log of a service other than the main one. */
export const getServiceLogName = (environmentId: string, service: string): string => `${environmentId}.${service}`

/** A started replica without traffic. */
export interface Candidate {
  spec: AppSpec
  /** null for a static site, which the edge serves. */
  replica: Replica | null
  exited: Promise<ReplicaExit>
}

/** The app of a slot, live or not. */
export interface SupervisedApp {
  spec: AppSpec
  /** null without a replica: the app is restarting, has crashed, or sleeps with its replica stopped. */
  candidate: Candidate | null
  /** Resolves when the current restart has ended; null without a restart. */
  restarting: Promise<void> | null
  /** Times of recent unexpected exits, for the back-off and for `crashed`. */
  recentExits: number[]
  /** Unexpected exits since it was started, and the code of the last one. */
  exits: number
  last_exit_code: number | null
  stopController: AbortController
  always_warm: boolean
  sleep: SleepState | null
  /** When a service was last seen active without visits, by the monotonic clock. */
  busy_at: number
  /** Time of the last thaw, by the monotonic clock. */
  thawed_at: number
  /** Another app has the traffic, temporarily or permanently; this app must not change routes. */
  isSuperseded: boolean
  /** The version that replaces its replicas one by one, with the new replicas in the route of this one. */
  replacement: { deployment_id: string; added: (Endpoint & { replica: number })[] } | null
  /** Files outside of volumes were reported and are neither kept nor dismissed. */
  has_unsaved_files: boolean
}

export const createSupervisedApp = (spec: AppSpec, candidate: Candidate | null): SupervisedApp => ({
  spec,
  candidate,
  restarting: null,
  recentExits: [],
  exits: 0,
  last_exit_code: null,
  stopController: new AbortController(),
  always_warm: spec.always_warm,
  sleep: null,
  thawed_at: -Infinity,
  busy_at: -Infinity,
  isSuperseded: false,
  replacement: null,
  has_unsaved_files: false,
})
