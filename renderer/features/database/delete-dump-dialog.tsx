import type { DatabaseDump } from '../../../server/contract/databases.ts'
import { useApiMutation } from '../../api/use-api-mutation.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { formatBytes, formatDateTime } from '../../lib/format.ts'

export function DeleteDumpDialog({ dump, onOpenChange, onDeleted }: { dump: DatabaseDump; onOpenChange: () => void; onDeleted: () => void }) {
  const remove = useApiMutation('deleteDatabaseDump', {
    hidesErrorToast: true,
    successMessage: 'The dump is deleted.',
    onSuccess() {
      onDeleted()
      onOpenChange()
    },
  })
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title="Delete this dump?"
      description={`The dump of ${dump.project_slug} from ${formatDateTime(dump.created_at)}, ${formatBytes(dump.bytes)}, goes for good.`}
    >
      {remove.error && <ProblemView problem={remove.error} />}
      <footer className="dialog-footer">
        <Button onClick={onOpenChange}>Cancel</Button>
        <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate({ params: { id: dump.id } })}>
          Delete
        </Button>
      </footer>
    </Dialog>
  )
}
