import type { Autoscaling } from '../contract/autoscaling.ts'
import { limits } from '../contract/limits.ts'
import { all, first, run, tables } from './query.ts'
import type { Tx } from './store.ts'
import type { ScalingDecisionRow } from './autoscaling-tables.ts'

/** The column `autoscaling` of a project. */
export const parseAutoscaling = (json: string | null): Autoscaling | null => (json === null ? null : (JSON.parse(json) as Autoscaling))
export const toAutoscalingColumn = (autoscaling: Autoscaling | null): string | null => (autoscaling === null ? null : JSON.stringify(autoscaling))

const { decisions } = limits.autoscaling

/** Stores a decision and drops the old ones of its project. */
export function insertScalingDecision(tx: Tx, row: Omit<ScalingDecisionRow, 'seq'>): void {
  tx.run(tables.insertInto('scaling_decisions').values(row))
  const oldest = findOldestKept(tx, row.project_id)
  if (oldest) deleteBefore(tx, row.project_id, oldest.seq)
}

const findOldestKept = first((projectId: string) =>
  tables
    .selectFrom('scaling_decisions')
    .select('seq')
    .where('project_id', '=', projectId)
    .orderBy('seq', 'desc')
    .limit(1)
    .offset(decisions - 1),
)

const deleteBefore = run((projectId: string, seq: number) =>
  tables.deleteFrom('scaling_decisions').where('project_id', '=', projectId).where('seq', '<', seq),
)

/** Newest first. */
export const listScalingDecisions = all((projectId: string) =>
  tables.selectFrom('scaling_decisions').selectAll().where('project_id', '=', projectId).orderBy('seq', 'desc').limit(decisions),
)
