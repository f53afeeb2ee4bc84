import { useState } from 'react'
import type { Project } from '../../../server/contract/projects.ts'
import { useApiMutation } from '../../api/use-api-mutation.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmByNameDialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { Progress } from '../../components/progress.tsx'

/** The end of the database. A dump stays. */
export function DropDatabase({
  project,
  isRequested,
  onClosed,
  onDropped,
}: {
  project: Project
  isRequested: boolean
  onClosed: () => void
  onDropped: () => void
}) {
  const { slug } = project
  const [isConfirming, setConfirming] = useState(false)
  const drop = useApiMutation('deleteDatabase', {
    hidesErrorToast: true,
    successMessage: 'The database is dropped. A dump of it was written first.',
    onSuccess() {
      onClosed()
      onDropped()
    },
  })
  return (
    <section className="card" aria-labelledby="drop">
      <header className="card-header">
        <h2 id="drop">Drop the database</h2>
      </header>
      <div className="card-body db-drop">
        <p className="text-muted">
          The database and its user go, and the app is deployed again without <code>DATABASE_URL</code>. A dump is written first; it stays on this
          instance, in the list above, until you delete it.
        </p>
        <Button kind="danger" onClick={() => setConfirming(true)}>
          Drop…
        </Button>
      </div>
      <ConfirmByNameDialog
        open={isConfirming || isRequested}
        onOpenChange={(open) => {
          // What is under way cannot be taken back.
          if (drop.isPending) return
          drop.reset()
          setConfirming(open)
          onClosed()
        }}
        title={`Drop the database of ${project.name}?`}
        description="All its data goes out of service. A dump is written first, and is listed here with the place where it lies."
        name={slug}
        action="Drop the database"
        busy={drop.isPending}
        onConfirm={() => drop.mutate({ params: { slug } })}
      >
        {drop.isPending && <Progress label="Writing the dump, then dropping" />}
        {drop.error && <ProblemView problem={drop.error} />}
      </ConfirmByNameDialog>
    </section>
  )
}
