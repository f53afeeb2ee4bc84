import { ListTree, Play, Square, Trash2 } from 'lucide-react'
import { useRef, useState } from 'react'
import { useDatabaseSchema, useExplainQuery, useRefetchRows } from '../../api/database-browser.ts'
import { useProject } from '../../api/projects.ts'
import { Button } from '../../components/button.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { SwitchField } from '../../components/field.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { toApiError } from '../../lib/api-error.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { useTitle } from '../../lib/use-title.ts'
import type { SqlEditorHandle } from './create-editor.ts'
import { DatabaseMissing } from './no-database.tsx'
import { PlanTree } from './plan-tree.tsx'
import { addToHistory, clearHistory, readHistory } from './query-history.ts'
import { QueryResults } from './query-results.tsx'
import { SqlEditor } from './sql-editor.tsx'
import { useQueryRun } from './use-query-run.ts'
import styles from './browser.module.css'

/** Statements in a project's database. */
export default function SqlPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  useTitle(`SQL · ${project?.name ?? slug}`)
  const { data, error, refetch } = useDatabaseSchema(slug)
  if (!data) return <DatabaseMissing slug={slug} isMissing={data === null} error={error} onRetry={() => void refetch()} />
  return <Console slug={slug} tables={data.tables} />
}

function Console({ slug, tables }: { slug: string; tables: Parameters<typeof SqlEditor>[0]['tables'] }) {
  const [history, setHistory] = useState(() => readHistory(slug))
  const [text, setText] = useState(history[0]?.sql ?? '')
  const [isWriting, setWriting] = useState(false)
  const [shown, setShown] = useState<'result' | 'plan'>('result')
  // The names that are completed do not change while somebody types.
  const [names] = useState(tables)
  const editor = useRef<SqlEditorHandle>(null)
  const { run, start, cancel } = useQueryRun(slug)
  const explain = useExplainQuery({ hidesErrorToast: true })
  const refetchRows = useRefetchRows(slug)
  const isRunning = run?.is_running ?? false

  const execute = async () => {
    if (isRunning || text.trim() === '') return
    setShown('result')
    setHistory(addToHistory(slug, text))
    await start(text, !isWriting)
    if (isWriting) refetchRows()
  }
  const showPlan = (analyze: boolean) => {
    setShown('plan')
    explain.mutate({ params: { slug }, body: { sql: text, analyze, read_only: !isWriting } })
  }
  return (
    <div className="stack">
      <section className={`card ${styles.console}`} aria-label="Statement">
        <SqlEditor text={text} tables={names} isWriting={isWriting} handle={editor} onChange={setText} onRun={() => void execute()} />
        <div className={styles.consoleBar}>
          {isRunning ? (
            <Button icon={Square} onClick={cancel}>
              Cancel
            </Button>
          ) : (
            <Button kind={isWriting ? 'danger' : 'primary'} icon={Play} disabled={text.trim() === ''} onClick={() => void execute()}>
              {isWriting ? 'Run and change data' : 'Run'}
            </Button>
          )}
          <Button icon={ListTree} disabled={text.trim() === '' || isRunning} onClick={() => showPlan(false)}>
            Explain
          </Button>
          <Button disabled={text.trim() === '' || isRunning} onClick={() => showPlan(true)}>
            Explain and run
          </Button>
          {history.length > 0 && (
            <>
              <select
                className={`input select ${styles.history}`}
                aria-label="History"
                value=""
                onChange={({ target }) => {
                  const entry = history[Number(target.value)]
                  if (!entry) return
                  setText(entry.sql)
                  editor.current?.setText(entry.sql)
                }}
              >
                <option value="">History</option>
                {history.map(({ sql, at }, index) => (
                  <option key={at + sql} value={index}>
                    {sanitizeForDisplay(sql.replaceAll(/\s+/g, ' ').slice(0, 100))}
                  </option>
                ))}
              </select>
              <Button
                icon={Trash2}
                onClick={() => {
                  clearHistory(slug)
                  setHistory([])
                }}
              >
                Clear history
              </Button>
            </>
          )}
        </div>
        <div className={styles.writeSwitch}>
          <SwitchField
            label="Allow changes"
            hint={
              isWriting
                ? 'Statements change the data of the running app. A small database is dumped before a statement that deletes or replaces data.'
                : 'Statements run in a read-only transaction, as the role of the app.'
            }
            checked={isWriting}
            onChange={setWriting}
          />
        </div>
      </section>
      {shown === 'result' && run && <QueryResults slug={slug} run={run} onShowPosition={(position) => editor.current?.showPosition(position)} />}
      {shown === 'plan' && explain.error && <ProblemView problem={toApiError(explain.error)} />}
      {shown === 'plan' && explain.data && <PlanTree {...explain.data} />}
      <p className={`text-subtle ${styles.foot}`}>
        <HelpLink topic="databases">About statements and their limits</HelpLink>
      </p>
    </div>
  )
}
