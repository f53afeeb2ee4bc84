import type { ProjectConfig, ServiceConfig } from '../contract/project-config.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import type { AttachedReplica, ExistingReplica, Replica, ReplicaExit } from '../runtime/runtime.ts'
import type { PublicListener } from './readiness.ts'
import type { AttachedTask, Task } from './run-task.ts'
import type { OutputListener } from './runtime-logs.ts'
import type { ServiceSpec } from './service-spec.ts'
import type { AppSpec, Candidate } from './supervised-app.ts'
import type { SupervisedService } from './supervised-service.ts'
import type { AppUsage, UsageReading } from './usage.ts'

/** Keeps live apps running: one per project and target (and branch), each with its services, output, back-off and route. */
export interface EnvironmentState {
  spec: AppSpec
  /** The configuration of the main service; null without services or without a main one. */
  main: { config: ServiceConfig } | null
  is_main_running: boolean
  /** The first replica of the main service. */
  main_replica: Replica | null
  /** Its unexpected exits since the version was started, and the code of the last one. */
  main_exits: number
  main_last_exit_code: number | null
  /** See `ServiceSupervisor.listReplicas`. */
  listReplicas(name: string | null): SupervisedService[]
  is_asleep: boolean
  release: ProjectConfig['release']
  /** The services other than the main one that were started, by name. */
  services: Map<string, SupervisedService>
}

/** A live app that is frozen while its successor starts. */
export interface HeldApp {
  spec: AppSpec
  /** The id of the replica of a service; null when it has none. */
  findReplica(service: string): string | null
  /** Resumes the app, which then receives the waiting requests. */
  resume(): Promise<void>
}

export interface Supervisor {
  /** `onOutput` also receives the app's output, so that the build log can show why a start failed. */
  launch(spec: AppSpec, signal: AbortSignal, onOutput?: OutputListener): Promise<Candidate>
  /**
   * Waits until a candidate responds and returns the candidate for the traffic, which may be a new one. `note` receives warnings about other ports.
   */
  waitUntilServing(candidate: Candidate, signal: AbortSignal, onNote: (line: string) => void, onOutput?: OutputListener): Promise<Candidate>
  /** Stops a candidate that will not be promoted. */
  stopCandidate(candidate: Candidate): Promise<void>
  /** Runs a command once in the environment of a version without traffic, with access to its prebuilt images. */
  runTask(spec: AppSpec, task: Task, onLine: OutputListener, signal: AbortSignal): Promise<ReplicaExit>
  /** Starts the services that depend on the main one, and waits until all services have run for a moment. */
  finishServices(spec: AppSpec, signal: AbortSignal, onOutput?: OutputListener): Promise<void>
  /** Stops the services of a version that will not be promoted; the live version gets its prebuilt images back. */
  revertServices(spec: AppSpec): Promise<void>
  /**
   * Switches traffic to the candidate immediately. `commit` makes the switch final and resolves when the previous app is drained and stopped;
   * `revert` restores the previous app and leaves the candidate to the caller.
   */
  promote(candidate: Candidate): { commit(): Promise<void>; revert(): Promise<void> }
  /**
   * Stops the live app of a slot when the candidate cannot run at the same time, because both listen on one fixed port; visitors wait. Returns undefined
   * when the app has no fixed port.
   */
  stopForFixedPort(spec: AppSpec): Promise<{ listen_port: number; resume(): Promise<void> } | undefined>
  /**
   * Takes over a container that outlived the platform; a frozen container becomes a sleeping app. Returns undefined when the container no longer
   * exists.
   */
  adopt(spec: AppSpec, existing: ExistingReplica): Promise<Candidate | undefined>
  /** Restores a current deployment after a restart, with the same back-off as after an exit; a sleeping app stays asleep. */
  restore(spec: AppSpec, asleep: boolean): void
  /** Wakes a sleeping app because a request arrived. */
  wake(projectId: string, deploymentId: string): void
  /** Applies changed project settings; an app that must stay warm is woken. */
  applyProjectSettings(projectId: string): void
  /** Stops all apps of a project; the caller updates the edge. */
  stopProject(projectId: string): Promise<void>
  /** Stops the app of a branch's preview. */
  stopPreview(projectId: string, branch: string): Promise<void>
  /** Stops all apps of these runtimes, and every replaced version at once. */
  stopAll(runtimes: readonly RuntimeName[]): Promise<void>
  /** Takes over replicas of services that outlived the platform; returns their ids. */
  adoptServices(spec: AppSpec, existing: ExistingReplica[]): Promise<string[]>
  /** The live version of an environment. */
  findEnvironment(environmentId: string): EnvironmentState | undefined
  /**
   * Starts the prebuilt images of an environment without a live version, and keeps them running until `releaseImages`. If they run already, they stay with
   * their version. Throws `StartFailure`.
   */
  holdImages(spec: AppSpec, signal: AbortSignal): Promise<EnvironmentState>
  releaseImages(environmentId: string): Promise<void>
  /** Whether the prebuilt images of an environment run without a live version. */
  isHoldingImages(environmentId: string): boolean
  /** Restarts a service other than the main one; resolves once it runs again. Throws `StartFailure`. */
  restartService(spec: AppSpec, name: string): Promise<void>
  /** The id of the replica of a running service; the environment is woken first. Throws `StartFailure` when it does not run. */
  wakeService(spec: AppSpec, name: string, signal: AbortSignal): Promise<string>
  /** Wakes an environment that sleeps; resolves once it runs. */
  wakeEnvironment(spec: AppSpec, signal: AbortSignal): Promise<void>
  /** Runs work while the environment is frozen: it keeps its memory and its requests wait. */
  freezeWhile<T>(spec: AppSpec, work: () => Promise<T>): Promise<T>
  /** Runs work while the environment is stopped; afterwards it is restarted, and requests wait for that. */
  stopWhile<T>(spec: AppSpec, work: () => Promise<T>): Promise<T>
  /**
   * Freezes the live version of an environment until its next version replaces it or `resume`; requests wait for either. Undefined without a live version.
   */
  holdLive(spec: AppSpec): Promise<HeldApp | undefined>
  /**
   * Replaces running replicas by others of the same version, so that the runtime places them again, without a failed request. Returns how many were
   * replaced; what could not be replaced stays.
   */
  moveReplicas(isAffected: (replicaId: string) => boolean): Promise<number>
  /** Runs a cron service once, in the live version of the environment; wakes it first. */
  runCron(spec: AppSpec, service: ServiceSpec, signal: AbortSignal): Promise<ReplicaExit>
  /** Starts a one-off command in the live version of the environment; wakes its services first. Throws `StartFailure`. */
  startAttached(spec: AppSpec, task: AttachedTask, signal: AbortSignal): Promise<AttachedReplica>
  /**
   * Starts a version without services of its own beside the live one, with access to its services, and waits until it responds. It is stopped with the
   * live version at the latest. Throws a `BuildFailure`.
   */
  startBeside(live: AppSpec, spec: AppSpec, signal: AbortSignal): Promise<Candidate>
  /** Stops what `startBeside` started. If Docker is unavailable, it is removed when Docker is back. */
  stopBeside(candidate: Candidate): Promise<void>
  /** Whether this deployment's app is supervised: it is live or restarting. */
  isSupervising(deploymentId: string): boolean
  /** Reports the files outside of volumes that the version of an environment wrote, if it is awake. */
  inspectFiles(environmentId: string): Promise<void>
  /** Apps that run as processes of this machine and listen on more than loopback; `ports` is undefined when the system does not report them. */
  findPublicPorts(): Promise<PublicListener[]>
  /** Current resource use of a project's app; null when nothing runs: static, asleep, stopped. */
  getUsage(projectId: string): Promise<AppUsage | null>
  /** Current resource use of everything that runs in production. */
  readAllUsage(): Promise<UsageReading[]>
  /** Adjusts timers after the machine slept. */
  resync(): void
  /** Cancels timers without stopping apps, when the platform ends and apps continue. */
  detach(): void
}
