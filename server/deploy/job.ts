import type { BuildLogLine, DeploymentStatus, Failure, FailureCode, StepName } from '../contract/deployments.ts'
import { Problem } from '../contract/errors.ts'
import { isoTime } from '../lib/clock.ts'
import { CommandFailure } from '../runtime/runtime.ts'
import { isFull } from '../store/database.ts'
import { closeSteps, findDeploymentById, swapStatus } from '../store/deployments.ts'
import { settleProjectStatus } from '../store/projects.ts'
import type { DeploymentRow } from '../store/tables.ts'
import type { Mask } from './mask.ts'
import { before } from './states.ts'
import type { YardDeps } from './yard.ts'

/** Why a running deployment was told to stop. It rides as the reason of the abort signal. */
export type StopReason = 'canceled' | 'timeout' | 'parked'

/** Ends a deployment in a terminal status, with its steps and the project's status, in one transaction. False: it had ended. */
export async function endDeployment(
  deps: YardDeps,
  id: string,
  to: Extract<DeploymentStatus, 'failed' | 'canceled'>,
  error: Failure | null,
): Promise<boolean> {
  const now = isoTime(deps.clock.now())
  const projectId = await deps.store.db.write((tx) => {
    if (!swapStatus(tx, id, before(to), to, { finished_at: now, error: error === null ? null : JSON.stringify(error) })) return undefined
    closeSteps(tx, id, to, now)
    const project = findDeploymentById(tx, id)?.project_id
    if (project !== undefined) settleProjectStatus(tx, project, now)
    return project
  })
  if (projectId === undefined) return false
  announce(deps, projectId, id)
  return true
}

export function announce(deps: Pick<YardDeps, 'bus'>, projectId: string, deploymentId?: string): void {
  if (deploymentId !== undefined) deps.bus.emit(`deployment:${deploymentId}`)
  deps.bus.emit(`project:${projectId}`)
}

const codeOfStep: Record<StepName, FailureCode> = {
  clone: 'clone_failed',
  detect: 'detect_failed',
  install: 'install_failed',
  build: 'build_failed',
  start: 'start_failed',
  health_check: 'health_check_failed',
  route: 'start_failed',
}

/** The words for a failure: those of the room that failed, else what can be told from the last lines of the log. */
/** `met_full_disk`: the lines that would have said so are lost. */
export function describeFailure(deps: YardDeps, error: unknown, deployment: DeploymentRow, step: StepName, met_full_disk: boolean): Failure {
  if (error instanceof Problem && error.code === 'storage_full') return storageFull
  if (isFull(error)) return storageFull
  if (error instanceof Problem && error.code === 'decryption_failed')
    return {
      code: codeOfStep[step],
      message: error.message,
      hint: 'Set the variables of the project again, or put the master key back that they were sealed with.',
    }
  if (error instanceof Error && 'code' in error && 'hint' in error && typeof error.hint === 'string') {
    const told = { code: error.code as FailureCode, message: error.message, hint: error.hint }
    if (met_full_disk && toolSteps.has(told.code)) return storageFull
    return error instanceof CommandFailure ? explain(deps, deployment.id, step, told) : told
  }
  deps.log.error('deployment_failed_unexpectedly', { deployment: deployment.id, step, error })
  return {
    code: codeOfStep[step],
    message: `The step ${step} failed for a reason of Homeport’s own.`,
    hint: `Try again; if it fails the same way, homeport doctor and the log of the platform say more. Deployment ${deployment.id}.`,
  }
}

/** Where a tool or the app itself failed, a full disk may be the cause. */
const toolSteps: ReadonlySet<FailureCode> = new Set(['install_failed', 'build_failed', 'start_failed'])

const storageFull: Failure = {
  code: 'storage_full',
  message: 'The disk of this machine is full.',
  hint: 'Free some space (homeport disk shows what takes it, homeport disk clean frees what nothing needs) and deploy again.',
}

/** A failure names commands and files of the project, which may hold a secret. */
export const masked = (failure: Failure, mask: Mask): Failure => ({ ...failure, message: mask(failure.message), hint: mask(failure.hint) })

/** What the last lines of a step say of its failure, with the line that says it. */
function explain(deps: YardDeps, deploymentId: string, during: StepName, ended: Failure): Failure {
  const step = during === 'install' || during === 'build' ? during : 'start'

  const lines = deps.store.logs
    .tail(deploymentId, 64_000)
    .flatMap((chunk) => chunk.body.split('\n'))
    .filter((record) => record.startsWith('{"seq"'))
    .map((record) => JSON.parse(record) as BuildLogLine)
    .filter((record) => record.step === step && record.stream !== 'system')
    .map((record) => record.line)
  const { code, message, hint, line } = deps.explainFailure(lines, step, ended)
  return { code, message: line === undefined || message.includes(line) ? message : `${message.replace(/\.$/, '')} (log: “${line}”).`, hint }
}
