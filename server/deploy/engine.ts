import type { BuildLogLine, DeploymentTrigger, RuntimeLogLine, RuntimeStateEvent, SourceKind } from '../contract/deployments.ts'
import type { StreamEvent } from '../contract/operation.ts'

/** What to deploy. The row is inserted `queued` before this resolves: answered means durable. */
export interface EnqueueRequest {
  project_id: string
  trigger: DeploymentTrigger
  /** `head` of the linked repository, the very source of an earlier deployment, or a folder of this machine. */
  source: { kind: 'head' } | { kind: 'same_as'; deployment_id: string } | { kind: 'folder'; path: string }
}

/** The one door of the yard. Everything that makes, changes or follows a deployment comes through here. */
export interface Engine {
  /** Inserts a `queued` deployment and rings the worker; returns its id. */
  enqueue(request: EnqueueRequest): Promise<{ deployment_id: string; source: SourceKind }>

  /** Stops the real work and frees the slot. `terminal`: it had ended already. */
  cancel(deploymentId: string): Promise<'canceled' | 'terminal'>

  /** Runtime and routing down, in-flight deployments canceled, the project `inactive`. May be repeated. */
  stop(projectId: string): Promise<void>

  /** Nothing routes and the row is a tombstone when this resolves; the rest is cleaned up durably behind it. */
  remove(projectId: string): Promise<void>

  /** The build log as events: status, all history, live lines, terminal status, end. Pull-driven; stops on `signal`. */
  followBuild(deploymentId: string, options: { last_event_id: string | undefined; signal: AbortSignal }): AsyncIterable<StreamEvent>

  /** The runtime log: the last `lines`, then live, over restarts and new deployments. Pull-driven; stops on `signal`. */
  followRuntime(
    projectId: string,
    options: { lines: number; last_event_id: string | undefined; json: boolean; signal: AbortSignal },
  ): AsyncIterable<StreamEvent>
}

export type { BuildLogLine, RuntimeLogLine, RuntimeStateEvent }
