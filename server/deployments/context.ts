import type { DeploymentFailure } from '../contract/deployments.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import type { BuildSettings, SourcePlan } from '../contract/build-plan.ts'
import type { Settings } from '../contract/instance.ts'
import type { DatabaseService } from '../database/database-service.ts'
import type { Edge } from '../edge/edge.ts'
import type { DomainEvent } from '../contract/domain-events.ts'
import type { BackgroundJobs } from '../lib/background-jobs.ts'
import type { MailCatcher } from '../mail-catcher/mail-catcher.ts'
import type { EventBus } from '../lib/event-bus.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { SourceFetchOptions, FetchedSource } from '../source/source.ts'
import type { Sealer } from '../store/sealer.ts'
import type { Store, Tx } from '../store/store.ts'
import type { TraceReceiver } from '../tracing/trace-receiver.ts'
import type { CleanupTask } from './cleanup-task.ts'
import type { ProjectRoutes } from './project-routes.ts'

/** Dependencies of the deployment service, provided by the composition root. */
export interface DeploymentServiceOptions {
  store: Store
  edge: Edge
  databases: DatabaseService
  mailCatcher: Pick<MailCatcher, 'variablesFor' | 'forgetProject' | 'setEnabled' | 'status'>
  traces: Pick<TraceReceiver, 'variablesFor' | 'setMask' | 'forgetProject'>
  runtimes: Record<RuntimeName, Runtime>
  /** The runtime of new deployments. */
  default_runtime: RuntimeName
  fetchSource(options: SourceFetchOptions): Promise<FetchedSource>
  planSource(options: { folder: string; settings: BuildSettings; apps: readonly string[]; builds_dockerfiles: boolean }): Promise<SourcePlan>
  explainFailure(lines: string[], step: 'install' | 'build' | 'start', failure: DeploymentFailure): DeploymentFailure & { line?: string }
  sealer: Sealer
  events: EventBus<DomainEvent>
  clock: Clock
  log: Log
  data_dir: string
  settings(): Settings
  /** Removes cached responses of a project whose app was replaced, or of one of its hosts; resolves when no request gets a removed response. */
  purgeEdgeCache(projectId: string, host: string | undefined): Promise<void>
  /** Deletes the screenshots of a deployment, or all of a project. */
  deleteScreenshots(of: { project_id: string; deployment_id?: string }): Promise<void>
  /** The current limits of an account's plan. */
  getPlanLimits(tx: Tx, accountId: string): { concurrent_builds: number; memory_mb: number; max_replicas: number; always_warm: boolean }
  /** Why an account cannot have a database, as a sentence. */
  findDatabaseObstacle(tx: Tx, accountId: string): string | undefined
  /** The URL of a host at the edge, and of a dashboard page; only these functions know ports. */
  urlOf(host: string): string
  /** The URL of a host on this machine, where development servers are. */
  localUrlOf(host: string): string
  dashboardUrlOf(slug: string): string
  /** The memory that more replicas could use on the machine of a runtime, in MB; null: unknown. */
  readAvailableMemory(runtime: RuntimeName): Promise<number | null>
  cpus: number
}

/** Shared by the parts of the deployment service. */
export interface DeploymentContext extends Omit<DeploymentServiceOptions, 'runtimes'> {
  runtime(name: RuntimeName): Runtime
  runtimeNames: readonly RuntimeName[]
  routes: ProjectRoutes
  /** Environments whose services a development server uses, by its session. They stay awake. */
  environmentsInUse: Map<string, string>
  /** Running work on the data of environments, for which their deployments wait, by environment. It never rejects. */
  dataChanges: Map<string, Promise<void>>
  /** Environments with one-off commands, by command. They stay awake. */
  environmentsWithCommands: Map<string, string>
  /** Work that no deployment or request waits for: `retire` a replaced version, `remove_project`. */
  jobs: BackgroundJobs
  /** Stores that the app of a project keeps crashing, and updates the project's status. */
  recordCrash(projectId: string, deploymentId: string): Promise<void>
  /** The app runs: it is not crashed any more. */
  recordRunning(projectId: string, deploymentId: string): Promise<void>
  /** Stores that a service of production keeps crashing. `ownerId`: its deployment, or its environment. */
  recordServiceCrash(projectId: string, ownerId: string, service: string): Promise<void>
  /** Stores a clean-up that cannot run now, so that it also runs after a restart. */
  scheduleCleanup(task: CleanupTask): Promise<void>
  /** Waits; false when the signal aborted first. */
  pause(ms: number, signal: AbortSignal): Promise<boolean>
}
