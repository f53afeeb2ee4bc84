import { all, tables } from './query.ts'

/** Projects whose uploads a standby copies. */
export const listReplicatedProjects = all(() => tables.selectFrom('projects').select('id').where('deleted_at', 'is', null))

/** Deployments whose source and static files a standby copies: those that nothing writes to. */
export const listReplicatedDeployments = all(() =>
  tables
    .selectFrom('deployments as d')
    .innerJoin('projects as p', 'p.id', 'd.project_id')
    .select(['d.id', 'd.artifact'])
    .where('p.deleted_at', 'is', null)
    .where('d.status', 'not in', ['queued', 'building', 'deploying']),
)
