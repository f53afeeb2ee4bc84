import type { PlanNode } from '../contract/database-browser.ts'
import { toStatementError } from './query-error.ts'
import type { QuerySession } from './query-session.ts'

export interface QueryPlan {
  plan: PlanNode
  planning_ms: number | null
  execution_ms: number | null
}

type RawNode = Record<string, unknown> & { 'Node Type': string; Plans?: RawNode[] }

/** The plan of a statement. The session ends afterwards without a commit, so that nothing that ANALYZE runs stays. */
export async function explainQuery({ client }: QuerySession, sql: string, analyze: boolean): Promise<QueryPlan> {
  const prefix = `EXPLAIN (FORMAT JSON${analyze ? ', ANALYZE' : ''}) `
  const statement = { text: prefix + sql, queryMode: 'extended' }
  const { rows } = await client.query<{ 'QUERY PLAN': unknown }>(statement).catch((error: unknown) => {
    throw toStatementError(error, sql, prefix.length)
  })
  const value = rows[0]?.['QUERY PLAN']
  const [output] = (typeof value === 'string' ? JSON.parse(value) : value) as [{ Plan: RawNode; 'Planning Time'?: number; 'Execution Time'?: number }]
  return { plan: toPlanNode(output.Plan), planning_ms: output['Planning Time'] ?? null, execution_ms: output['Execution Time'] ?? null }
}

const separateFields = new Set(
  'Node Type,Plans,Startup Cost,Total Cost,Plan Rows,Actual Startup Time,Actual Total Time,Actual Rows,Actual Loops,Relation Name,Schema,Alias'.split(
    ',',
  ),
)

function toPlanNode(raw: RawNode): PlanNode {
  const loops = toNumber(raw['Actual Loops'])
  const total = toNumber(raw['Actual Total Time'])
  const details: Record<string, string> = {}
  for (const [name, value] of Object.entries(raw)) {
    if (separateFields.has(name) || value === null || value === false) continue
    details[name] = Array.isArray(value) ? value.join(', ') : String(value)
  }
  const relation = [raw['Schema'], raw['Relation Name']].filter(Boolean).join('.')
  return {
    type: raw['Node Type'],
    relation: relation === '' ? null : relation,
    details,
    startup_cost: toNumber(raw['Startup Cost']) ?? 0,
    total_cost: toNumber(raw['Total Cost']) ?? 0,
    plan_rows: toNumber(raw['Plan Rows']) ?? 0,
    actual_ms: total === null ? null : total * (loops ?? 1),
    actual_rows: toNumber(raw['Actual Rows']),
    loops,
    children: (raw.Plans ?? []).map(toPlanNode),
  }
}

const toNumber = (value: unknown): number | null => (typeof value === 'number' ? value : null)
