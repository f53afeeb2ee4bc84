import type { DeploymentFailure, RuntimeName } from '../contract/deployments.ts'
import type { BuildPlan, BuildSettings } from '../contract/build-plan.ts'
import type { Settings } from '../contract/instance.ts'
import type { DatabaseService } from '../database/database-service.ts'
import type { Edge } from '../edge/edge.ts'
import type { DomainEvent } from '../contract/domain-events.ts'
import type { EventBus } from '../lib/event-bus.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { SourceFetchOptions, FetchedSource } from '../source/source.ts'
import type { Sealer } from '../store/sealer.ts'
import type { Store, Tx } from '../store/store.ts'
import type { CleanupTask } from './cleanup-task.ts'
import type { ProjectRoutes } from './project-routes.ts'

/** What the yard is given by the composition root. */
export interface DeploymentServiceOptions {
  store: Store
  edge: Edge
  databases: DatabaseService
  runtimes: Record<RuntimeName, Runtime>
  /** What new deployments are built with. */
  default_runtime: RuntimeName
  fetchSource(options: SourceFetchOptions): Promise<FetchedSource>
  planBuild(options: { folder: string; settings: BuildSettings }): Promise<BuildPlan>
  explainFailure(lines: string[], step: 'install' | 'build' | 'start', failure: DeploymentFailure): DeploymentFailure & { line?: string }
  sealer: Sealer
  events: EventBus<DomainEvent>
  clock: Clock
  log: Log
  data_dir: string
  settings(): Settings
  /** Takes out all that the edge has stored of a project whose app was replaced, or of one of its names alone; resolves when no request gets any of it. */
  purgeEdgeCache(projectId: string, host: string | undefined): Promise<void>
  /** Frees the pictures of a deployment, or all of a project. */
  deleteScreenshots(of: { project_id: string; deployment_id?: string }): Promise<void>
  /** What the plan of an account allows now. */
  getPlanLimits(tx: Tx, accountId: string): { concurrent_builds: number; memory_mb: number; always_warm: boolean }
  /** Address of a name at the edge, and of a page of the dashboard; the one place that knows ports. */
  urlOf(host: string): string
  dashboardUrlOf(slug: string): string
  cpus: number
}

/** What the yard's own parts share. */
export interface DeploymentContext extends Omit<DeploymentServiceOptions, 'runtimes'> {
  runtime(name: RuntimeName): Runtime
  routes: ProjectRoutes
  /** The app of a project keeps ending: the fact is stored, the status follows. */
  recordCrash(projectId: string, deploymentId: string): Promise<void>
  /** What cannot be done now must be done later, even over a restart. */
  scheduleCleanup(task: CleanupTask): Promise<void>
  /** Waits; false when the signal came first. */
  pause(ms: number, signal: AbortSignal): Promise<boolean>
}
