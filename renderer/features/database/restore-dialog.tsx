import { useRestoreDatabase } from '../../api/databases.ts'
import type { DatabaseDump } from '../../../server/contract/databases.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { ConfirmByNameDialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { formatDateTime } from '../../lib/format.ts'
import { Progress } from '../../components/progress.tsx'

export function RestoreDialog({ project, dump, onOpenChange }: { project: Project; dump: DatabaseDump; onOpenChange: () => void }) {
  const restore = useRestoreDatabase({
    hidesErrorToast: true,
    successMessage: 'Database restored. The previous data is saved in a dump.',
    onSuccess: onOpenChange,
  })
  return (
    <ConfirmByNameDialog
      open
      onOpenChange={() => {
        if (!restore.isPending) onOpenChange()
      }}
      title="Restore this dump?"
      description={`Replaces all data in the database with the dump from ${formatDateTime(dump.created_at)}. The current data is dumped first. If the restore fails, the database stays unchanged.`}
      name={project.slug}
      action="Restore database"
      busy={restore.isPending}
      onConfirm={() => restore.mutate({ params: { slug: project.slug, id: dump.id } })}
    >
      {restore.isPending && <Progress label="Saving a dump, then restoring" />}
      {restore.error && <ProblemView problem={restore.error} />}
    </ConfirmByNameDialog>
  )
}
