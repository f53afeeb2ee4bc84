import type { BuildLogLine, DeploymentStatus, DeploymentFailure, FailureCode, StepName } from '../contract/deployments.ts'
import { Problem } from '../contract/errors.ts'
import { isoTime } from '../lib/clock.ts'
import { CommandFailure } from '../runtime/runtime.ts'
import { isDiskFull } from '../store/sqlite.ts'
import { recordProjectActivity } from '../store/activity.ts'
import {
  finishSteps,
  findDeploymentById,
  compareAndSwapStatus,
  listCurrentDeployments,
  listOpenDeployments,
  updateDeployment,
} from '../store/deployments.ts'
import { resetPreviews } from '../store/previews.ts'
import { findProject, recomputeProjectStatus, updateProject } from '../store/projects.ts'
import type { Tx } from '../store/store.ts'
import type { DeploymentRow } from '../store/tables.ts'
import type { SecretMask } from './secret-mask.ts'
import { statusesBefore } from './status-transitions.ts'
import type { DeploymentContext } from './context.ts'
import { parseStoredVersion } from './version.ts'

/** Why a running deployment was stopped; passed as the reason of the abort signal. */
export type StopReason = 'canceled' | 'timeout' | 'requeued'

/** Ends a deployment in a terminal status, with its steps and the project's status, in one transaction. Returns false when it had ended already. */
export async function endDeployment(
  context: DeploymentContext,
  id: string,
  to: Extract<DeploymentStatus, 'failed' | 'canceled'>,
  error: DeploymentFailure | null,
): Promise<boolean> {
  const now = isoTime(context.clock.now())
  const projectId = await context.store.db.write((tx) => {
    if (!compareAndSwapStatus(tx, id, statusesBefore(to), to, { finished_at: now, error: error === null ? null : JSON.stringify(error) }))
      return undefined
    finishSteps(tx, id, to, now)
    const row = findDeploymentById(tx, id)
    if (row) {
      recomputeProjectStatus(tx, row.project_id, now)
      if (to === 'failed') recordDeployment(tx, now, row, 'failed', error?.code)
      publishChange(tx, row.project_id, id)
    }
    return row?.project_id
  })
  return projectId !== undefined
}

/** Takes the current deployments of a project out of traffic and stops the project; undefined while a deployment is open. */
export function endServing(tx: Tx, projectId: string, now: string): DeploymentRow[] | undefined {
  if (listOpenDeployments(tx, projectId).length > 0) return undefined
  const rows = listCurrentDeployments(tx, projectId)
  for (const row of rows) updateDeployment(tx, row.id, { is_current: 0 })
  resetPreviews(tx, projectId)
  updateProject(tx, projectId, { stopped_at: now, crashed_at: null, port: null, is_cold: 0 })
  recomputeProjectStatus(tx, projectId, now)
  for (const row of rows) tx.publish({ type: 'deployment_changed', id: row.id })
  tx.publish({ type: 'project_changed', id: projectId })
  return rows
}

/** Publishes that a deployment changed, and with it the state of its project. */
export function publishChange(tx: Tx, projectId: string, deploymentId: string): void {
  tx.publish({ type: 'deployment_changed', id: deploymentId })
  tx.publish({ type: 'project_changed', id: projectId })
}

/** Publishes that a deployment waits. A push is recorded in the activity log here; all other deployments by the request or the hook that started them. */
export function publishQueued(tx: Tx, now: string, deployment: Omit<DeploymentRow, 'seq'>): void {
  if (deployment.trigger === 'push') recordDeployment(tx, now, deployment, 'created')
  publishChange(tx, deployment.project_id, deployment.id)
  tx.publish({ type: 'deployment_queued', id: deployment.id })
}

const stepFailureCodes: Record<StepName, FailureCode> = {
  clone: 'clone_failed',
  detect: 'detect_failed',
  install: 'install_failed',
  build: 'build_failed',
  start: 'start_failed',
  health_check: 'health_check_failed',
  route: 'start_failed',
}

/** The failure for an error: the error's own message, else an explanation from the last lines of the log. */
/** `met_full_disk`: the log lines about the full disk could not be stored. */
export async function describeFailure(
  context: DeploymentContext,
  error: unknown,
  deployment: DeploymentRow,
  step: StepName,
  hasLostLines: boolean,
): Promise<DeploymentFailure> {
  if (error instanceof Problem && error.code === 'storage_full') return storageFullFailure
  if (isDiskFull(error)) return storageFullFailure
  if (error instanceof Problem && error.code === 'decryption_failed')
    return {
      code: stepFailureCodes[step],
      message: error.message,
      hint: 'Set the project’s variables again, or restore the master key that encrypted them.',
    }
  if (error instanceof Error && 'code' in error && 'hint' in error && typeof error.hint === 'string') {
    const failure = { code: error.code as FailureCode, message: error.message, hint: error.hint }
    if (hasLostLines && toolFailureCodes.has(failure.code)) return storageFullFailure
    return error instanceof CommandFailure ? explainFromLog(context, deployment.id, step, failure) : failure
  }
  context.log.error('deployment_failed_unexpectedly', { deployment: deployment.id, step, error })
  return {
    code: stepFailureCodes[step],
    message: `The step ${step} failed because of an internal error.`,
    hint: `Deploy again. If it keeps failing, run homeport doctor and check the platform log for deployment ${deployment.id}.`,
  }
}

/** A full disk may be the cause of these failures of a tool or the app. */
const toolFailureCodes: ReadonlySet<FailureCode> = new Set(['install_failed', 'build_failed', 'start_failed'])

const storageFullFailure: DeploymentFailure = {
  code: 'storage_full',
  message: 'The disk of this machine is full.',
  hint: 'Free up space, then deploy again. homeport disk shows disk usage; homeport disk clean removes unused data.',
}

/** A failure quotes commands and files of the project, which may contain a secret. */
export const maskFailure = (failure: DeploymentFailure, mask: SecretMask): DeploymentFailure => ({
  ...failure,
  message: mask(failure.message),
  hint: mask(failure.hint),
})

/** The explanation in the last lines of a step's log, with the line that shows the cause. */
async function explainFromLog(
  context: DeploymentContext,
  deploymentId: string,
  failedStep: StepName,
  failure: DeploymentFailure,
): Promise<DeploymentFailure> {
  const step = failedStep === 'install' || failedStep === 'build' ? failedStep : 'start'
  const artifact = step === 'start' ? (await context.store.db.read((tx) => findDeploymentById(tx, deploymentId)))?.artifact : undefined
  const services = artifact ? parseStoredVersion(artifact).services.map(({ config }) => `${config.name} | `) : []
  // Services keep printing while they are stopped, which is not the cause of the failure.
  const isOfService = (line: string) => services.some((prefix) => line.startsWith(prefix))
  const lines = context.store.logs
    .readTail(deploymentId, 64_000)
    .flatMap((chunk) => chunk.body.split('\n'))
    .filter((record) => record.startsWith('{"seq"'))
    .map((record) => JSON.parse(record) as BuildLogLine)
    .filter((record) => record.step === step && record.stream !== 'system')
    .map((record) => record.line)
    .filter((line) => !isOfService(line))
  const { code, message, hint, line } = context.explainFailure(lines, step, failure)
  return { code, message: line === undefined || message.includes(line) ? message : `${message.replace(/\.$/, '')} (log: “${line}”).`, hint }
}

/** Appends an event of a deployment to the activity log. */
export function recordDeployment(
  tx: Tx,
  now: string,
  row: Omit<DeploymentRow, 'seq'>,
  event: 'created' | 'ready' | 'failed',
  failure?: FailureCode,
): void {
  const project = findProject(tx, row.project_id)
  if (!project) return
  recordProjectActivity(tx, now, project, {
    action: `deployment.${event}`,
    actor_kind: row.trigger === 'push' || row.trigger === 'hook' ? 'push' : 'system',
    target_id: row.id,
    target_name: row.target === 'preview' ? row.branch : null,
    details: {
      ...(row.branch !== null && { branch: row.branch }),
      ...(row.commit_sha !== null && { commit_sha: row.commit_sha }),
      ...(failure && { failure }),
    },
    is_outcome: event === 'created' ? 0 : 1,
  })
}

/** Services of a version that no longer serves are no news. */
export function recordServiceCrash(tx: Tx, projectId: string, { ownerId, service }: { ownerId: string; service: string }, now: string): void {
  const row = listCurrentDeployments(tx, projectId).find(
    ({ id, target }) => target === 'production' && (id === ownerId || !ownerId.startsWith('dpl_')),
  )
  const project = row && findProject(tx, projectId)
  if (!project) return
  recordProjectActivity(tx, now, project, { action: 'service.crashed', actor_kind: 'system', target_name: service, is_outcome: 1 })
}

export function recordCrash(tx: Tx, projectId: string, deploymentId: string, now: string): void {
  const row = listCurrentDeployments(tx, projectId).find(({ id }) => id === deploymentId)
  const project = row && findProject(tx, projectId)
  if (!project) return
  recordProjectActivity(tx, now, project, { action: 'project.crashed', actor_kind: 'system', target_id: deploymentId, is_outcome: 1 })
  updateProject(tx, projectId, { crashed_at: now })
  recomputeProjectStatus(tx, projectId, now)
  publishChange(tx, projectId, deploymentId)
}

/** A crashed app runs again, because Homeport was restarted. */
export function recordRunning(tx: Tx, projectId: string, deploymentId: string, now: string): void {
  if (!listCurrentDeployments(tx, projectId).some(({ id, target }) => id === deploymentId && target === 'production')) return
  updateProject(tx, projectId, { crashed_at: null })
  recomputeProjectStatus(tx, projectId, now)
  publishChange(tx, projectId, deploymentId)
}
