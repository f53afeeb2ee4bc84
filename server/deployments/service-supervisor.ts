import type { ExistingReplica } from '../runtime/runtime.ts'
import type { OutputListener } from './runtime-logs.ts'
import type { AppSpec } from './supervised-app.ts'
import type { SupervisedService } from './supervised-service.ts'

/** Keeps the services of live deployments running. */
export interface ServiceSupervisor {
  /**
   * Assigns the prebuilt images of an environment to a version: the one being deployed, and after a failure the live one again. Other versions leave
   * shared images alone, so that restarting the live version or putting it to sleep meanwhile does not affect them.
   */
  claim(spec: AppSpec): void
  /** Whether the prebuilt images of an environment belong to a version. */
  isClaimed(environmentId: string): boolean
  /** Starts the stopped services of a deployment, each after its dependencies. Throws `StartFailure`. */
  start(spec: AppSpec, phase: Phase, signal: AbortSignal, onOutput?: OutputListener): Promise<void>
  /** Like `start`, for a live version: never throws, and retries what failed. Resolves after the first attempts. */
  revive(spec: AppSpec, phase: Phase, signal: AbortSignal): Promise<void>
  /** Resolves when every built service has run for a moment; throws when one keeps exiting. */
  waitUntilSettled(spec: AppSpec, signal: AbortSignal): Promise<void>
  /** Variables with the addresses of the services that a deployment's main one can call. */
  getAddresses(spec: AppSpec): Record<string, string>
  /** Stops a service and starts it again. Throws `StartFailure`. */
  restart(spec: AppSpec, name: string): Promise<void>
  /** Stops the services that belong only to this version. */
  stopVersion(deploymentId: string, grace_ms?: number): Promise<void>
  /** Stops all services of a version, and the prebuilt images of its environment unless they are another version's. */
  stop(spec: AppSpec): Promise<void>
  /** Stops all prebuilt images of an environment. */
  stopEnvironment(environmentId: string, grace_ms?: number): Promise<void>
  /** Stops the prebuilt images of an environment if they are this version's. */
  stopImages(spec: AppSpec): Promise<void>
  /** Stops the prebuilt images of an environment that match neither this version nor the version that owns them. */
  stopUnused(spec: AppSpec): Promise<void>
  freeze(spec: AppSpec): Promise<void>
  /** Like `freeze`, without the images that another version has claimed, because the version goes to sleep. */
  freezeOwn(spec: AppSpec): Promise<void>
  thaw(spec: AppSpec): Promise<void>
  /** Takes over replicas that survived the platform; returns their ids. */
  adopt(spec: AppSpec, existing: ExistingReplica[]): Promise<string[]>
  /** Whether a built service uses the CPU, so that its environment should stay awake. */
  isBusy(spec: AppSpec): Promise<boolean>
  find(spec: AppSpec, name: string): SupervisedService | undefined
  /** The replicas of a service; for the main one, those beyond the first. */
  listReplicas(spec: AppSpec, name: string | null): SupervisedService[]
  /** Starts the replicas of the main service beyond the first, up to a number. Throws `StartFailure`; a failed start keeps none. */
  startReplicas(
    spec: AppSpec,
    signal: AbortSignal,
    options: { onOutput: OutputListener | undefined; upTo?: number; onReady?(replica: SupervisedService): void },
  ): Promise<void>
  /** Starts missing replicas of a live main service. Never throws, and retries what failed. Resolves after the first attempts. */
  reviveReplicas(spec: AppSpec, signal: AbortSignal): Promise<void>
  /**
   * Removes replicas of the main service beyond the first. They are stopped once `untilDrained` resolves, which is called after they are no longer
   * listed.
   */
  removeReplicas(spec: AppSpec, isSurplus: (replica: SupervisedService) => boolean, untilDrained: () => Promise<void>): Promise<void>
  detach(): void
}

/** `images`: the prebuilt images of the environment. `after_main`: what depends on the main service. */
export type Phase = 'images' | 'before_main' | 'after_main'
