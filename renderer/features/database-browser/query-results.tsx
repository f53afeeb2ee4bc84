import { Button } from '../../components/button.tsx'
import { CircleAlert } from 'lucide-react'
import { Link } from 'wouter'
import type { QueryError } from '../../../server/contract/database-browser.ts'
import { ProblemView } from '../../components/feedback.tsx'
import { Progress } from '../../components/progress.tsx'
import { formatLatency } from '../../lib/format.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { RowGrid } from './row-grid.tsx'
import type { QueryRun } from './use-query-run.ts'
import styles from './browser.module.css'

export function QueryResults({ slug, run, onShowPosition }: { slug: string; run: QueryRun; onShowPosition: (position: number) => void }) {
  const { columns, rows, end, problem, snapshot } = run
  return (
    <section className="stack" aria-label="Result">
      {run.is_running && rows.length === 0 && <Progress label="The statement is running." />}
      {problem && <ProblemView problem={problem} />}
      {end?.type === 'error' && !isCanceled(end.error) && <StatementErrorView error={end.error} onShowPosition={onShowPosition} />}
      {snapshot && (
        <p className="text-muted">
          The data from before is in a new dump. <Link href={`/projects/${slug}/database#dumps`}>Open dumps</Link>
        </p>
      )}
      {end?.notices.map((notice, index) => (
        <p key={index} className="text-muted mono">
          {sanitizeForDisplay(notice)}
        </p>
      ))}
      {columns.length > 0 && rows.length > 0 && <RowGrid label="Rows of the result" columns={columns} rows={rows} />}
      <p className={`text-subtle ${styles.foot}`} role="status">
        {describeRun(run)}
      </p>
    </section>
  )
}

function describeRun({ columns, row_count, end, is_running }: QueryRun): string {
  const rows = `${row_count.toLocaleString()} ${row_count === 1 ? 'row' : 'rows'}`
  if (is_running) return row_count > 0 ? `${rows} so far` : ''
  if (end?.type === 'error' && isCanceled(end.error)) return 'Canceled.'
  if (end?.type !== 'done') return ''
  const what = columns.length > 0 ? rows : `${end.command}${end.row_count === null ? '' : `: ${end.row_count.toLocaleString()} rows`}`
  const cut = end.truncated === 'rows' ? '; there are more rows' : end.truncated === 'bytes' ? '; the result is too large and was cut' : ''
  return `${what} in ${formatLatency(end.duration_ms)}${cut}`
}

/** What to do about errors that this page can cause. */
const hintsByCode: Partial<Record<string, string>> = {
  // read_only_sql_transaction
  '25006': 'Statements are read-only here. Turn on “Allow changes” above, then run it again.',
}

/** query_canceled; a statement that ran for too long has the same code. */
const isCanceled = ({ code, message }: QueryError): boolean => code === '57014' && message.includes('user request')

function StatementErrorView({ error, onShowPosition }: { error: QueryError; onShowPosition: (position: number) => void }) {
  const { message, detail, code, line, column, position } = error
  const hint = error.hint ?? hintsByCode[code] ?? null
  return (
    <div className="problem" role="alert">
      <CircleAlert size={18} aria-hidden />
      <div>
        <p className="problem-text">{sanitizeForDisplay(message)}</p>
        {detail !== null && <p className="text-muted">{sanitizeForDisplay(detail)}</p>}
        {hint !== null && <p className="text-muted">{sanitizeForDisplay(hint)}</p>}
        <p className="problem-code">
          <code>{code}</code>
          {position !== null && (
            <Button kind="bare" onClick={() => onShowPosition(position)}>
              Line {line}, column {column}
            </Button>
          )}
        </p>
      </div>
    </div>
  )
}
