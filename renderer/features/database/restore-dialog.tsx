import { useQueryClient } from '@tanstack/react-query'
import type { DatabaseDump } from '../../../server/contract/databases.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { useAction } from '../../api/actions.ts'
import { keys } from '../../api/keys.ts'
import { NamedConfirm } from '../../ui/dialog.tsx'
import { ProblemView } from '../../ui/feedback.tsx'
import { exactTime } from '../../ui/format.ts'
import { Progress } from '../../ui/progress.tsx'

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
  const restore = useAction('restoreDatabase', {
    quiet: true,
    done: 'The database is back to that dump. What it held before is in a dump of its own.',
    onDone({ database }) {
      cache.setQueryData(keys.database(project.slug), database)
      onRestored()
      onOpenChange()
    },
  })
  return (
    <NamedConfirm
      open
      onOpenChange={() => {
        if (!restore.isPending) onOpenChange()
      }}
      title="Put the database back?"
      about={`All that is in it now is replaced by the dump from ${exactTime(dump.created_at)}. What is there now is dumped first, and if anything goes wrong it stays as it is.`}
      name={project.slug}
      action="Put it back"
      busy={restore.isPending}
      onConfirm={() => restore.mutate({ params: { slug: project.slug, id: dump.id } })}
    >
      {restore.isPending && <Progress label="Dumping what is there, then putting it back" />}
      {restore.error && <ProblemView problem={restore.error} />}
    </NamedConfirm>
  )
}
