import type { SourcePlan } from '../contract/build-plan.ts'
import type { StepLog } from '../contract/build-log.ts'
import type { StepName } from '../contract/deployments.ts'
import type { Build } from '../runtime/runtime.ts'
import type { FetchedSource } from '../source/source.ts'
import { updateDeployment } from '../store/deployments.ts'
import type { DeploymentRow, ProjectRow } from '../store/tables.ts'
import type { DeploymentContext } from './context.ts'
import type { DeploymentLog } from './deployment-log.ts'
import type { OutputListener } from './runtime-logs.ts'
import type { AppSpec, Candidate } from './supervised-app.ts'
import type { HeldApp, Supervisor } from './supervisor.ts'
import type { DeploymentSecrets } from './variables.ts'
import type { Version } from './version.ts'

/** One attempt at a deployment. The first fields are given; each step adds its result for the steps after it. */
export interface DeploymentRun {
  readonly context: DeploymentContext
  readonly supervisor: Supervisor
  readonly project: ProjectRow
  readonly log: DeploymentLog
  readonly signal: AbortSignal
  /** The row; `saveProgress` keeps it current. */
  readonly deployment: DeploymentRow

  /** `detect` reads them again when it adds services. */
  secrets: DeploymentSecrets

  /** `clone` */
  source?: FetchedSource
  /** `detect` */
  plan?: SourcePlan
  /** `install`, in the order of the plan's builds; closed at the end of `build` */
  builds?: Build[]
  /** `build`, or the parent of a rollback before the first step */
  version?: Version
  /** `start` */
  spec?: AppSpec
  /** `start` and `health_check`, which may start it again */
  candidate?: Candidate
  output?: AppOutput
  /** `start`: the live app, if it waits because its files begin the volumes of this version. */
  held_app?: HeldApp | undefined
  /** `health_check`: the live app, if it had to stop first because both listen on one fixed port. */
  stopped_app?: { resume(): Promise<void> }
}

/** The output of a starting app. */
export interface AppOutput {
  listener: OutputListener
  is_port_taken: boolean
  /** From now on the app's lines go only to the runtime log. */
  endStart(): void
}

/** A step returns `skipped` when this deployment needs nothing from it, and throws to end the deployment. */
export interface Step {
  name: StepName
  run(run: DeploymentRun, log: StepLog): Promise<void | 'skipped'>
}

/** The result of an earlier step. */
export function resultOf<K extends 'source' | 'plan' | 'builds' | 'version' | 'candidate' | 'output'>(
  run: DeploymentRun,
  key: K,
): NonNullable<DeploymentRun[K]> {
  const value = run[key]
  if (value === undefined) throw new Error(`No step has set ${key}.`)
  return value
}

/** Stores new facts about the deployment, in its row and in the copy that the steps read. */
export async function saveProgress(run: DeploymentRun, change: Partial<Omit<DeploymentRow, 'seq' | 'id' | 'status'>>): Promise<void> {
  Object.assign(run.deployment, change)
  await run.context.store.db.write((tx) => {
    updateDeployment(tx, run.deployment.id, change)
    tx.publish({ type: 'deployment_changed', id: run.deployment.id })
  })
}
