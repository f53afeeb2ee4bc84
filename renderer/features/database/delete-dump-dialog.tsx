import { useDeleteDump } from '../../api/databases.ts'
import type { DatabaseDump } from '../../../server/contract/databases.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { formatBytes, formatDateTime } from '../../lib/format.ts'

export function DeleteDumpDialog({ dump, onOpenChange }: { dump: DatabaseDump; onOpenChange: () => void }) {
  const remove = useDeleteDump({
    hidesErrorToast: true,
    successMessage: 'Dump deleted.',
    onSuccess: onOpenChange,
  })
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title="Delete this dump?"
      description={`The dump of ${dump.project_slug} from ${formatDateTime(dump.created_at)}, ${formatBytes(dump.bytes)}, is permanently deleted.`}
    >
      {remove.error && <ProblemView problem={remove.error} />}
      <footer className="dialog-footer">
        <Button onClick={onOpenChange}>Cancel</Button>
        <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate({ params: { id: dump.id } })}>
          Delete dump
        </Button>
      </footer>
    </Dialog>
  )
}
