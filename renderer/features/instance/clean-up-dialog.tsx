import { useCleanDisk } from '../../api/maintenance.ts'
import type { CleanableKind, DiskUsage } from '../../../server/contract/maintenance.ts'
import type { CallOutput } from '../../../server/client/operation-types.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { formatBytes } from '../../lib/format.ts'
import { Progress } from '../../components/progress.tsx'
import { cleanUpEffects, diskKinds, safeKinds, reclaimableSpace } from './disk-kinds.ts'
import styles from './disk-page.module.css'

/** Lists what a cleanup deletes, runs it and shows the result. */
export function CleanUpDialog({
  rows,
  chosen,
  onOpenChange,
}: {
  rows: readonly DiskUsage[]
  chosen: readonly CleanableKind[]
  onOpenChange: () => void
}) {
  const clean = useCleanDisk({ hidesErrorToast: true })
  if (clean.data) return <CleanUpResult answer={clean.data} onOpenChange={onOpenChange} />
  const isAllSafe = chosen === safeKinds
  const sum = reclaimableSpace(rows, chosen)
  const [only] = chosen
  // Kinds with nothing to free are hidden.
  const effective = chosen
    .map((kind) => ({ kind, ...reclaimableSpace(rows, [kind]) }))
    .filter(({ kind, bytes: free, is_certain }) => rows.some((row) => row.kind === kind) && (free > 0 || !is_certain))
  const isNothing = effective.length === 0
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title={isAllSafe || !only ? 'Clean up everything that is safe to remove?' : `Clean up ${diskKinds[only].name.toLowerCase()}?`}
      description="Live deployments, rollback candidates and files that Homeport did not create are kept. Your data is never touched."
    >
      {isNothing ? (
        <p className="text-muted">There is nothing to free right now.</p>
      ) : (
        <ul className={styles.cleanList}>
          {effective.map(({ kind, bytes: free, is_certain }) => (
            <li key={kind}>
              <div>
                <strong>{diskKinds[kind].name}</strong>
                <p className="text-muted">{cleanUpEffects[kind]}</p>
              </div>
              <span>{is_certain ? formatBytes(free) : free > 0 ? `${formatBytes(free)} or more` : 'unknown until done'}</span>
            </li>
          ))}
        </ul>
      )}
      {clean.error && <ProblemView problem={clean.error} />}
      {clean.isPending && <Progress label="Cleaning up" text="This may take a minute." />}
      <footer className="dialog-footer">
        <Button onClick={onOpenChange}>{isNothing ? 'Close' : 'Cancel'}</Button>
        {!isNothing && (
          <Button kind="primary" busy={clean.isPending} onClick={() => clean.mutate({ body: isAllSafe ? {} : { kinds: [...chosen] } })}>
            {sum.bytes > 0 ? `Free about ${formatBytes(sum.bytes)}` : 'Clean up'}
          </Button>
        )}
      </footer>
    </Dialog>
  )
}

function CleanUpResult({ answer, onOpenChange }: { answer: CallOutput<'cleanDisk'>; onOpenChange: () => void }) {
  const freedRows = answer.freed.filter((one) => one.bytes > 0 || one.count > 0 || one.note !== null)
  return (
    <Dialog open onOpenChange={onOpenChange} title={answer.freed_bytes > 0 ? `${formatBytes(answer.freed_bytes)} freed` : 'Nothing to free'}>
      <div role="status">
        <ul className={styles.cleanList}>
          {freedRows.map(({ kind, bytes: freed, count, note }) => (
            <li key={kind}>
              <div>
                <strong>{diskKinds[kind].name}</strong>
                {note && <p className="text-muted">{note}</p>}
              </div>
              <span>
                {formatBytes(freed)}
                {count > 0 && <span className="text-subtle"> · {count === 1 ? '1 item' : `${count.toLocaleString()} items`}</span>}
              </span>
            </li>
          ))}
        </ul>
      </div>
      <footer className="dialog-footer">
        <Button kind="primary" onClick={onOpenChange}>
          Done
        </Button>
      </footer>
    </Dialog>
  )
}
