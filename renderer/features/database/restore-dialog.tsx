import { type DumpTarget, useRestoreDatabase } from '../../api/databases.ts'
import type { DatabaseDump } from '../../../server/contract/databases.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { ConfirmByNameDialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { dumpTitle } from '../../lib/database-format.ts'
import { formatDateTime } from '../../lib/format.ts'
import { Progress } from '../../components/progress.tsx'

interface RestoreDialogProps {
  project: Project
  service: DumpTarget | undefined
  dump: DatabaseDump
  onOpenChange: () => void
}

export function RestoreDialog({ project, service, dump, onOpenChange }: RestoreDialogProps) {
  const restore = useRestoreDatabase({
    hidesErrorToast: true,
    successMessage: `${service?.label ?? 'Database'} restored. The previous data is saved in a dump.`,
    onSuccess: onOpenChange,
  })
  return (
    <ConfirmByNameDialog
      open
      onOpenChange={() => {
        if (!restore.isPending) onOpenChange()
      }}
      title="Restore this dump?"
      description={`Replaces all data in ${service?.label ?? 'the database'} with the dump ${dump.name === null ? '' : `“${dumpTitle(dump)}” `}from ${formatDateTime(dump.created_at)}. The current data is dumped first. If the restore fails, the database stays unchanged.`}
      name={project.slug}
      action={`Restore ${service?.label ?? 'database'}`}
      busy={restore.isPending}
      onConfirm={() => restore.mutate({ params: { slug: project.slug, id: dump.id } })}
    >
      {restore.isPending && <Progress label="Saving a dump, then restoring" />}
      {restore.error && <ProblemView problem={restore.error} />}
    </ConfirmByNameDialog>
  )
}
