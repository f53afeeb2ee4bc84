import { useQueryClient } from '@tanstack/react-query'
import type { CleanKind, DiskUse } from '../../../server/contract/upkeep.ts'
import { useAction } from '../../api/actions.ts'
import type { Answer } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ProblemView } from '../../ui/feedback.tsx'
import { bytes } from '../../ui/format.ts'
import { Progress } from '../../ui/progress.tsx'
import { cleanable, kinds, safeKinds, wouldFree } from './disk-kinds.ts'

/** Says what will go, does it, and says what went. */
export function CleanDialog({ rows, chosen, onOpenChange }: { rows: readonly DiskUse[]; chosen: readonly CleanKind[]; onOpenChange: () => void }) {
  const cache = useQueryClient()
  const clean = useAction('cleanDisk', { quiet: true, onDone: () => void cache.invalidateQueries({ queryKey: keys.disk }) })
  if (clean.data) return <Freed answer={clean.data} onOpenChange={onOpenChange} />
  const isAll = chosen === safeKinds
  const sum = wouldFree(rows, chosen)
  const [only] = chosen
  // What has nothing to give is not worth a line.
  const worth = chosen
    .map((kind) => ({ kind, ...wouldFree(rows, [kind]) }))
    .filter(({ kind, bytes: free, is_certain }) => rows.some((row) => row.kind === kind) && (free > 0 || !is_certain))
  const isNothing = worth.length === 0
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title={isAll || !only ? 'Clean up all that is safe?' : `Clean up ${kinds[only].name.toLowerCase()}?`}
      about="What serves, what it can be rolled back to, and what Homeport did not make are left alone. Your data is never touched."
    >
      {isNothing ? (
        <p className="quiet">There is nothing to free just now.</p>
      ) : (
        <ul className="clean-list">
          {worth.map(({ kind, bytes: free, is_certain }) => (
            <li key={kind}>
              <div>
                <strong>{kinds[kind].name}</strong>
                <p className="quiet">{cleanable[kind]}</p>
              </div>
              <span>{is_certain ? bytes(free) : free > 0 ? `${bytes(free)} or more` : 'told afterwards'}</span>
            </li>
          ))}
        </ul>
      )}
      {clean.error && <ProblemView problem={clean.error} />}
      {clean.isPending && <Progress label="Cleaning up" text="This may take a minute." />}
      <footer className="dialog-foot">
        <Button onClick={onOpenChange}>{isNothing ? 'Close' : 'Cancel'}</Button>
        {!isNothing && (
          <Button kind="primary" busy={clean.isPending} onClick={() => clean.mutate({ body: isAll ? {} : { kinds: [...chosen] } })}>
            {sum.bytes > 0 ? `Free about ${bytes(sum.bytes)}` : 'Clean up'}
          </Button>
        )}
      </footer>
    </Dialog>
  )
}

function Freed({ answer, onOpenChange }: { answer: Answer<'cleanDisk'>; onOpenChange: () => void }) {
  const told = answer.freed.filter((one) => one.bytes > 0 || one.count > 0 || one.note !== null)
  return (
    <Dialog open onOpenChange={onOpenChange} title={answer.freed_bytes > 0 ? `${bytes(answer.freed_bytes)} freed` : 'There was nothing to free'}>
      <div role="status">
        <ul className="clean-list">
          {told.map(({ kind, bytes: freed, count, note }) => (
            <li key={kind}>
              <div>
                <strong>{kinds[kind].name}</strong>
                {note && <p className="quiet">{note}</p>}
              </div>
              <span>
                {bytes(freed)}
                {count > 0 && <span className="faint"> · {count === 1 ? '1 piece' : `${count.toLocaleString()} pieces`}</span>}
              </span>
            </li>
          ))}
        </ul>
      </div>
      <footer className="dialog-foot">
        <Button kind="primary" onClick={onOpenChange}>
          Done
        </Button>
      </footer>
    </Dialog>
  )
}
