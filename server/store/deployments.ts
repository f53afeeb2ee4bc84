import type { DeploymentStatus, DeploymentTarget, StepName, StepStatus } from '../contract/deployments.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import { all, exists, first, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { DeploymentRow } from './tables.ts'

export const findDeployment = first((projectId: string, id: string) =>
  tables.selectFrom('deployments').selectAll().where('id', '=', id).where('project_id', '=', projectId),
)

export const findDeploymentById = first((id: string) => tables.selectFrom('deployments').selectAll().where('id', '=', id))

export const hasDeployment = exists((id: string) => tables.selectFrom('deployments').select('id').where('id', '=', id))

/** Unfinished deployments. */
const openStatuses = ['queued', 'building', 'deploying'] as const

export interface DeploymentFilter {
  target?: DeploymentTarget | undefined
  branch?: string | undefined
  status?: DeploymentStatus | undefined
}

const listDeploymentsBefore = all((projectId: string, before: number, limit: number) =>
  tables.selectFrom('deployments').selectAll().where('project_id', '=', projectId).where('seq', '<', before).orderBy('seq', 'desc').limit(limit),
)

export function listDeployments(
  tx: Tx,
  options: { project_id: string; before: number | undefined; limit: number } & DeploymentFilter,
): DeploymentRow[] {
  const { project_id, before = Number.MAX_SAFE_INTEGER, limit, target, branch, status } = options
  if (target === undefined && branch === undefined && status === undefined) return listDeploymentsBefore(tx, project_id, before, limit)
  let query = tables.selectFrom('deployments').selectAll().where('project_id', '=', project_id).where('seq', '<', before)
  if (target !== undefined) query = query.where('target', '=', target)
  if (branch !== undefined) query = query.where('branch', '=', branch)
  if (status !== undefined) query = query.where('status', '=', status)
  return tx.all(query.orderBy('seq', 'desc').limit(limit))
}

const insertStep = run((deployment_id: string, position: number, name: StepName) =>
  tables.insertInto('deployment_steps').values({ deployment_id, position, name, status: 'pending' }),
)

export function insertDeployment(tx: Tx, deployment: Omit<DeploymentRow, 'seq'>, steps: readonly StepName[]): void {
  tx.run(tables.insertInto('deployments').values(deployment))
  for (const [position, name] of steps.entries()) insertStep(tx, deployment.id, position, name)
}

export function updateDeployment(tx: Tx, id: string, change: Partial<Omit<DeploymentRow, 'seq' | 'id' | 'status'>>): void {
  if (Object.keys(change).length > 0) tx.run(tables.updateTable('deployments').set(change).where('id', '=', id))
}

/** Compare-and-swap of the status; false if the status was no longer one of `from`. */
export function compareAndSwapStatus(
  tx: Tx,
  id: string,
  from: readonly DeploymentStatus[],
  to: DeploymentStatus,
  change: Partial<Omit<DeploymentRow, 'seq' | 'id' | 'status'>> = {},
): boolean {
  return (
    tx.run(
      tables
        .updateTable('deployments')
        .set({ ...change, status: to })
        .where('id', '=', id)
        .where('status', 'in', from),
    ) === 1
  )
}

/** Queued deployments of the same slot, which a newer one replaces. */
export function listQueuedInSlot(tx: Tx, slot: DeploymentSlot): DeploymentRow[] {
  return listOpenDeployments(tx, slot.project_id).filter((row) => row.status === 'queued' && slotKey(row) === slotKey(slot))
}

export interface ClaimLimits {
  /** Concurrent builds on the instance. */
  total: number
  /** Concurrent builds of one account, by its plan. */
  perAccount: (accountId: string) => number
  /** Runtimes that are available now. Deployments of other runtimes stay queued. */
  runtimes: readonly string[]
}

const deploymentsWithAccount = tables.selectFrom('deployments as d').innerJoin('projects as p', 'p.id', 'd.project_id')
const listRunning = all(() =>
  deploymentsWithAccount.select(['d.project_id', 'd.target', 'd.branch', 'p.account_id']).where('d.status', 'in', ['building', 'deploying']),
)
const listQueuedAfter = all((target: DeploymentTarget, seq: number) =>
  deploymentsWithAccount
    .selectAll('d')
    .select('p.account_id')
    .where('d.status', '=', 'queued')
    .where('d.target', '=', target)
    .where('d.seq', '>', seq)
    .orderBy('d.seq')
    .limit(50),
)

/**
 * Claims the oldest queued deployment that may run now, production before previews: one at a time per project and branch, within the limits. Runs
 * inside one write transaction, so two workers never claim the same one.
 */
export function claimOldestQueued(tx: Tx, limits: ClaimLimits, change: (row: DeploymentRow) => Partial<DeploymentRow>): DeploymentRow | undefined {
  const running = listRunning(tx)
  if (running.length >= limits.total) return undefined
  const busySlots = new Set(running.map(slotKey))
  const perAccount = new Map<string, number>()
  for (const row of running) perAccount.set(row.account_id, (perAccount.get(row.account_id) ?? 0) + 1)

  // Production first, so that many pushed branches do not delay it.
  for (const target of ['production', 'preview'] as const)
    for (let lastSeq = 0; ;) {
      const candidates = listQueuedAfter(tx, target, lastSeq)
      if (candidates.length === 0) break
      for (const { account_id, ...row } of candidates) {
        lastSeq = row.seq
        if (
          !limits.runtimes.includes(row.runtime) ||
          busySlots.has(slotKey(row)) ||
          (perAccount.get(account_id) ?? 0) >= limits.perAccount(account_id)
        )
          continue
        const claimed: DeploymentRow = { ...row, ...change(row), status: 'building' }
        const { seq: _, id: __, status: ___, ...rest } = claimed
        return compareAndSwapStatus(tx, row.id, ['queued'], 'building', rest) ? claimed : undefined
      }
    }
  return undefined
}

interface DeploymentSlot {
  project_id: string
  target: string
  branch: string | null
}

/** One deployment at a time per project and branch. Production is one slot for all branches. */
const slotKey = (row: DeploymentSlot): string => `${row.project_id}\0${row.target === 'production' ? '' : (row.branch ?? '')}\0${row.target}`

const queuedDeployments = tables
  .selectFrom('deployments')
  .select((eb) => eb.fn.countAll<number>().as('n'))
  .where('status', '=', 'queued')
const countQueuedProduction = first((seq: number) => queuedDeployments.where('target', '=', 'production').where('seq', '<=', seq))
const countQueued = first((seq: number) => queuedDeployments.where((eb) => eb.or([eb('target', '=', 'production'), eb('seq', '<=', seq)])))

/** 1 for the next deployment. */
export const readQueuePosition = (tx: Tx, { seq, target }: Pick<DeploymentRow, 'seq' | 'target'>): number =>
  (target === 'production' ? countQueuedProduction(tx, seq) : countQueued(tx, seq))?.n ?? 1

/** Deployments that were in progress when the platform ended. */
export const listInterruptedDeployments = all(() =>
  tables.selectFrom('deployments').selectAll().where('status', 'in', ['building', 'deploying']).orderBy('seq'),
)

export const listOpenDeployments = all((projectId: string) =>
  tables.selectFrom('deployments').selectAll().where('status', 'in', openStatuses).where('project_id', '=', projectId).orderBy('seq'),
)

const listQueuedAccounts = all(() => deploymentsWithAccount.select('p.account_id').where('d.status', '=', 'queued'))

/** The number of open deployments of these accounts. Uses two small indexes, never the whole table. */
export const countOpenDeployments = (tx: Tx, accounts: string[]): number =>
  [...listQueuedAccounts(tx), ...listRunning(tx)].filter((row) => accounts.includes(row.account_id)).length

/** The deployment that served production last, or that could have. */
export const findLastReadyDeployment = first((projectId: string) =>
  tables
    .selectFrom('deployments')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('target', '=', 'production')
    .where('status', '=', 'ready')
    .orderBy('is_current', 'desc')
    .orderBy('seq', 'desc')
    .limit(1),
)

const currentDeployments = tables.selectFrom('deployments').selectAll().where('is_current', '=', 1)
const listAllCurrent = all(() => currentDeployments)
const listCurrentOfProject = all((projectId: string) => currentDeployments.where('project_id', '=', projectId))

/** The deployments that are serving now, of all projects or of one. */
export const listCurrentDeployments = (tx: Tx, projectId?: string): DeploymentRow[] =>
  projectId === undefined ? listAllCurrent(tx) : listCurrentOfProject(tx, projectId)

/** The project's production deployment that is serving now. */
export const findCurrentProductionDeployment = first((projectId: string) =>
  currentDeployments.where('project_id', '=', projectId).where('target', '=', 'production'),
)

/**
 * The deployment that a redeployment of production is based on: the open one, else the current one, else the latest. Undefined for a stopped project.
 */
export const findRedeployBase = first((projectId: string) =>
  deploymentsWithAccount
    .selectAll('d')
    .where('d.project_id', '=', projectId)
    .where('d.target', '=', 'production')
    .where('d.status', '<>', 'canceled')
    .where('p.stopped_at', 'is', null)
    .orderBy((eb) => eb('d.status', 'in', openStatuses), 'desc')
    .orderBy('d.is_current', 'desc')
    .orderBy('d.seq', 'desc')
    .limit(1),
)

export function findCurrentDeployment(tx: Tx, projectId: string, target: DeploymentTarget, branch: string | null): DeploymentRow | undefined {
  return listCurrentDeployments(tx, projectId).find((row) => row.target === target && (target === 'production' || row.branch === branch))
}

/** The latest deployment of a branch of the repository. */
export const findLatestBranchDeployment = first((projectId: string, target: DeploymentTarget, branch: string) =>
  tables
    .selectFrom('deployments')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('target', '=', target)
    .where('branch', '=', branch)
    .where('source', '=', 'git')
    .orderBy('seq', 'desc')
    .limit(1),
)

const selectPushBase = (projectId: string, target: DeploymentTarget) =>
  tables
    .selectFrom('deployments')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('target', '=', target)
    .where((eb) => eb.or([eb('is_current', '=', 1), eb('status', 'in', ['queued', 'building', 'deploying'])]))
    .orderBy('seq', 'desc')
    .limit(1)

/** The deployment to compare a push with, to production or to the branch of a preview: the running one, else the current one. */
export const findProductionPushBase = first((projectId: string) => selectPushBase(projectId, 'production'))
export const findPreviewPushBase = first((projectId: string, branch: string) => selectPushBase(projectId, 'preview').where('branch', '=', branch))

/** All deployments of a preview, newest first. */
export const listPreviewDeployments = all((projectId: string, branch: string) =>
  tables
    .selectFrom('deployments')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('target', '=', 'preview')
    .where('branch', '=', branch)
    .orderBy('seq', 'desc'),
)

/** Those of the ids that are deployments of the project. */
export function filterKnownDeploymentIds(tx: Tx, projectId: string, ids: readonly string[]): Set<string> {
  return new Set(ids.filter((id) => findDeployment(tx, projectId, id) !== undefined))
}

/** The stored build results of a project's deployments. */
export const listStoredVersions = all((projectId: string) =>
  tables.selectFrom('deployments').select('artifact').where('project_id', '=', projectId).where('artifact', 'is not', null),
)

/** The build results of all projects that have a prebuilt image, whose artifact has its id. */
export const listVersionsOfReadyImages = all(() => tables.selectFrom('deployments').select('artifact').where('artifact', 'like', '%"id":"sha256:%'))

export const listSteps = all((deploymentId: string) =>
  tables.selectFrom('deployment_steps').selectAll().where('deployment_id', '=', deploymentId).orderBy('position'),
)

export function updateStep(
  tx: Tx,
  deploymentId: string,
  name: StepName,
  change: { status: StepStatus; started_at?: string; finished_at?: string },
): void {
  tx.run(tables.updateTable('deployment_steps').set(change).where('deployment_id', '=', deploymentId).where('name', '=', name))
}

export const resetSteps = run((deploymentId: string) =>
  tables.updateTable('deployment_steps').set({ status: 'pending', started_at: null, finished_at: null }).where('deployment_id', '=', deploymentId),
)

const finishRunningSteps = run((deploymentId: string, status: StepStatus, now: string) =>
  tables.updateTable('deployment_steps').set({ status, finished_at: now }).where('deployment_id', '=', deploymentId).where('status', '=', 'running'),
)
const skipPendingSteps = run((deploymentId: string) =>
  tables.updateTable('deployment_steps').set({ status: 'skipped' }).where('deployment_id', '=', deploymentId).where('status', '=', 'pending'),
)

/** Ends the steps of a deployment that failed or was canceled. */
export function finishSteps(tx: Tx, deploymentId: string, to: 'failed' | 'canceled', now: string): void {
  finishRunningSteps(tx, deploymentId, to, now)
  skipPendingSteps(tx, deploymentId)
}

/** Variables for both targets come first, so that those of one override them. */
export const listEnvVarsForTarget = all((projectId: string, target: DeploymentTarget) =>
  tables
    .selectFrom('env_vars')
    .select(['id', 'key', 'sealed_value', 'environment', 'is_build_secret', 'is_write_only', 'is_sensitive'])
    .where('project_id', '=', projectId)
    .where((eb) => eb.or([eb('environment', 'is', null), eb('environment', '=', target)]))
    .orderBy((eb) => eb('environment', 'is not', null))
    .orderBy('key'),
)

const insertWork = first((work: string, created_at: string) => tables.insertInto('cleanups').values({ work, created_at }).returning('seq'))

/** Work that must be completed even after a restart. It is written in the transaction that makes it due and deleted when it is done. */
export const insertCleanup = (tx: Tx, work: object, now: string): number => insertWork(tx, JSON.stringify(work), now)?.seq ?? 0

export const listCleanups = all(() => tables.selectFrom('cleanups').select(['seq', 'work']).orderBy('seq'))

export const deleteCleanup = run((seq: number) => tables.deleteFrom('cleanups').where('seq', '=', seq))

/** Deletes all rows of a removed project, once nothing of it remains outside the database. */
export function deleteProjectRows(tx: Tx, projectId: string): string[] {
  const deployments = listDeploymentsOfProject(tx, projectId).map((row) => row.id)
  tx.run(
    tables
      .deleteFrom('screenshots')
      .where('deployment_id', 'in', (eb) => eb.selectFrom('deployments').select('deployments.id').where('deployments.project_id', '=', projectId)),
  )
  for (const table of [
    'deployments',
    'env_vars',
    'purge_tokens',
    'cache_events',
    'domains',
    'watches',
    'branches',
    'skipped_pushes',
    'previews',
    'cron_runs',
    'forks',
    'managed_services',
    'registries',
    'mailboxes',
    'mail_messages',
    'project_volumes',
    'unsaved_files',
    'request_captures',
    'notification_targets',
    'deploy_hooks',
    'log_drains',
    'scaling_decisions',
  ] as const)
    tx.run(tables.deleteFrom(table).where('project_id', '=', projectId))
  tx.run(tables.deleteFrom('projects').where('id', '=', projectId))
  return deployments
}

/** The newest deployments to production that went live within a time. */
export const listLiveDeployments = all((projectId: string, from: string, to: string, limit: number) =>
  tables
    .selectFrom('deployments')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('target', '=', 'production')
    .where('status', '=', 'ready')
    .where('finished_at', '>=', from)
    .where('finished_at', '<', to)
    .orderBy('seq', 'desc')
    .limit(limit),
)

/** All deployments of a project, without their sources and build results. */
export const listDeploymentsOfProject = all((projectId: string) =>
  tables.selectFrom('deployments').select(['id', 'project_id', 'target', 'branch', 'runtime']).where('project_id', '=', projectId),
)

const listRuntimesOfQueued = all(() => tables.selectFrom('deployments').select('runtime').distinct().where('status', '=', 'queued'))
/** The runtimes that queued deployments wait for. */
export const listQueuedRuntimes = (tx: Tx): RuntimeName[] => listRuntimesOfQueued(tx).map((row) => row.runtime)

export const hasArtifacts = exists((runtime: RuntimeName) =>
  tables.selectFrom('deployments').select('id').where('runtime', '=', runtime).where('artifact', 'is not', null),
)

const listOwnersOfLogs = all(() => tables.selectFrom('deployments').select('id').union(tables.selectFrom('projects').select('id')))
/** The ids that a log may have. */
export const listLogOwnerIds = (tx: Tx): string[] => listOwnersOfLogs(tx).map((row) => row.id)

const countUpTo = first((projectId: string, seq: number) =>
  tables
    .selectFrom('deployments')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('project_id', '=', projectId)
    .where('seq', '<=', seq),
)
/** The position of a deployment in its project, from 1. Rows of deployments are kept as long as their project. */
export const countDeploymentsUpTo = (tx: Tx, projectId: string, seq: number): number => countUpTo(tx, projectId, seq)?.n ?? 0
