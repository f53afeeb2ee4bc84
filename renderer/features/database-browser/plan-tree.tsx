import type { PlanNode } from '../../../server/contract/database-browser.ts'
import { formatLatency } from '../../lib/format.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import styles from './browser.module.css'

interface Props {
  plan: PlanNode
  planning_ms: number | null
  execution_ms: number | null
}

/** The plan of a statement. Bars show the share of each step without its inputs: of the time if it ran, else of the cost. */
export function PlanTree({ plan, planning_ms, execution_ms }: Props) {
  const total = measure(plan) || 1
  return (
    <section className="card card-body stack" aria-label="Plan">
      <p className="text-muted">
        {execution_ms === null
          ? `Estimated cost ${plan.total_cost.toLocaleString()}. The statement was not run.`
          : `Ran in ${formatLatency(execution_ms)}, planned in ${formatLatency(planning_ms ?? 0)}.`}
      </p>
      <ul className={styles.plan}>
        <PlanStep node={plan} total={total} />
      </ul>
    </section>
  )
}

/** With inputs. */
const measure = (node: PlanNode): number => node.actual_ms ?? node.total_cost

function PlanStep({ node, total }: { node: PlanNode; total: number }) {
  const own = Math.max(0, measure(node) - node.children.reduce((sum, child) => sum + measure(child), 0))
  const share = Math.min(100, Math.round((100 * own) / total))
  const rows =
    node.actual_rows === null ? `about ${node.plan_rows.toLocaleString()} rows` : `${(node.actual_rows * (node.loops ?? 1)).toLocaleString()} rows`
  const details = Object.entries(node.details).filter(([name]) => /Cond|Filter|Key|Index Name|Join Type|Strategy|Method|Removed/.test(name))
  return (
    <li>
      <div className={styles.planStep}>
        <span>
          <strong>{node.type}</strong>
          {node.relation !== null && <span className="mono"> {sanitizeForDisplay(node.relation)}</span>}
        </span>
        <span className="text-subtle">
          {rows} · {node.actual_ms === null ? `cost ${node.total_cost.toLocaleString()}` : formatLatency(node.actual_ms)}
        </span>
        <span className={styles.planBar} role="img" aria-label={`${share} % of the ${node.actual_ms === null ? 'cost' : 'time'}`}>
          <span className={share >= 40 ? styles.planHeavy : ''} style={{ width: `${Math.max(share, 1)}%` }} />
        </span>
        {details.map(([name, value]) => (
          <span key={name} className={`text-muted ${styles.planDetail}`}>
            {name}: <span className="mono">{sanitizeForDisplay(value)}</span>
          </span>
        ))}
      </div>
      {node.children.length > 0 && (
        <ul className={styles.plan}>
          {node.children.map((child, index) => (
            <PlanStep key={index} node={child} total={total} />
          ))}
        </ul>
      )}
    </li>
  )
}
