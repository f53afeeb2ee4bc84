import { useQueryClient } from '@tanstack/react-query'
import type { DatabaseDump } from '../../../server/contract/databases.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { useApiMutation } from '../../api/use-api-mutation.ts'
import { queryKeys } from '../../api/query-keys.ts'
import { ConfirmByNameDialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { formatDateTime } from '../../lib/format.ts'
import { Progress } from '../../components/progress.tsx'

export function RestoreDialog({
  project,
  dump,
  onOpenChange,
  onRestored,
}: {
  project: Project
  dump: DatabaseDump
  onOpenChange: () => void
  onRestored: () => void
}) {
  const cache = useQueryClient()
  const restore = useApiMutation('restoreDatabase', {
    hidesErrorToast: true,
    successMessage: 'The database is back to that dump. What it held before is in a dump of its own.',
    onSuccess({ database }) {
      cache.setQueryData(queryKeys.database(project.slug), database)
      onRestored()
      onOpenChange()
    },
  })
  return (
    <ConfirmByNameDialog
      open
      onOpenChange={() => {
        if (!restore.isPending) onOpenChange()
      }}
      title="Put the database back?"
      description={`All that is in it now is replaced by the dump from ${formatDateTime(dump.created_at)}. What is there now is dumped first, and if anything goes wrong it stays as it is.`}
      name={project.slug}
      action="Put it back"
      busy={restore.isPending}
      onConfirm={() => restore.mutate({ params: { slug: project.slug, id: dump.id } })}
    >
      {restore.isPending && <Progress label="Dumping what is there, then putting it back" />}
      {restore.error && <ProblemView problem={restore.error} />}
    </ConfirmByNameDialog>
  )
}
