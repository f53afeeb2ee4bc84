import type { DeploymentTarget } from '../contract/deployments.ts'
import type { ScreenshotVariant } from '../contract/previews.ts'
import { all, exists, first, run, tables } from './query.ts'
import type { Db, Tx } from './store.ts'

/** A current deployment, as far as its screenshots are concerned. */
export interface ScreenshotTargetRow {
  deployment_id: string
  project_id: string
  target: DeploymentTarget
  branch: string | null
  url: string
  taken: ScreenshotVariant[]
}

const listVariants = all((deploymentId: string) => tables.selectFrom('screenshots').select('variant').where('deployment_id', '=', deploymentId))
export const listScreenshots = (tx: Tx, deploymentId: string): ScreenshotVariant[] => listVariants(tx, deploymentId).map((row) => row.variant)

const currentTargets = tables
  .selectFrom('deployments as d')
  .innerJoin('projects as p', 'p.id', 'd.project_id')
  .select(['d.id as deployment_id', 'd.project_id', 'd.target', 'd.branch'])
  .select((eb) => eb.ref('d.url').$notNull().as('url'))
  .where('d.is_current', '=', 1)
  .where('d.status', '=', 'ready')
  .where('d.url', 'is not', null)
  .where('p.deleted_at', 'is', null)
const findTarget = first((deploymentId: string) => currentTargets.where('d.id', '=', deploymentId))
const listTargets = all(() => currentTargets.orderBy('d.seq', 'desc'))
const isDeploying = exists(() => tables.selectFrom('deployments').select('id').where('status', 'in', ['building', 'deploying']).limit(1))
const listAll = all(() =>
  tables
    .selectFrom('screenshots as s')
    .innerJoin('deployments as d', 'd.id', 's.deployment_id')
    .select(['d.project_id', 's.deployment_id', 's.variant']),
)
const deleteVariant = run((deploymentId: string, variant: ScreenshotVariant) =>
  tables.deleteFrom('screenshots').where('deployment_id', '=', deploymentId).where('variant', '=', variant),
)
const deleteOfDeployment = run((deploymentId: string) => tables.deleteFrom('screenshots').where('deployment_id', '=', deploymentId))
const deleteOfProject = run((projectId: string) =>
  tables
    .deleteFrom('screenshots')
    .where('deployment_id', 'in', (eb) => eb.selectFrom('deployments').select('id').where('project_id', '=', projectId)),
)

/** Stores which screenshots exist; their files are elsewhere. */
export function createScreenshotStore(db: Db) {
  const withTaken = (tx: Tx, row: Omit<ScreenshotTargetRow, 'taken'>): ScreenshotTargetRow => ({
    ...row,
    taken: listScreenshots(tx, row.deployment_id),
  })

  return {
    /** undefined: the deployment is not serving. */
    find: (deploymentId: string) =>
      db.read((tx) => {
        const row = findTarget(tx, deploymentId)
        return row && withTaken(tx, row)
      }),
    listCurrent: () => db.read((tx) => listTargets(tx).map((row) => withTaken(tx, row))),
    isDeploying: () => db.read(isDeploying),
    /** False if the deployment is no longer serving; the screenshot is then not stored. */
    insert: (row: { deployment_id: string; variant: ScreenshotVariant; bytes: number; created_at: string }) =>
      db.write((tx) => {
        if (!findTarget(tx, row.deployment_id)) return false
        deleteVariant(tx, row.deployment_id, row.variant)
        tx.run(tables.insertInto('screenshots').values(row))
        tx.publish({ type: 'deployment_changed', id: row.deployment_id })
        return true
      }),
    list: () => db.read((tx) => listAll(tx)),
    remove: (deploymentId: string, variant: ScreenshotVariant) => db.write((tx) => void deleteVariant(tx, deploymentId, variant)),
    /** Deletes the rows of a deployment, or of all deployments of a project. */
    forget: (owner: { deployment_id: string } | { project_id: string }) =>
      db.write((tx) => {
        if ('deployment_id' in owner) deleteOfDeployment(tx, owner.deployment_id)
        else deleteOfProject(tx, owner.project_id)
      }),
  }
}

export type ScreenshotStore = ReturnType<typeof createScreenshotStore>
