import type { DatabaseDump } from '../../../server/contract/databases.ts'
import { useAction } from '../../api/actions.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ProblemView } from '../../ui/feedback.tsx'
import { bytes, exactTime } from '../../ui/format.ts'

export function DeleteDumpDialog({ dump, onOpenChange, onDeleted }: { dump: DatabaseDump; onOpenChange: () => void; onDeleted: () => void }) {
  const remove = useAction('deleteDatabaseDump', {
    quiet: true,
    done: 'The dump is deleted.',
    onDone() {
      onDeleted()
      onOpenChange()
    },
  })
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title="Delete this dump?"
      about={`The dump of ${dump.project_slug} from ${exactTime(dump.created_at)}, ${bytes(dump.bytes)}, goes for good.`}
    >
      {remove.error && <ProblemView problem={remove.error} />}
      <footer className="dialog-foot">
        <Button onClick={onOpenChange}>Cancel</Button>
        <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate({ params: { id: dump.id } })}>
          Delete
        </Button>
      </footer>
    </Dialog>
  )
}
