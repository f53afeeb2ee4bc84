import { useState } from 'react'
import { useDeleteDatabase } from '../../api/databases.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmByNameDialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { Progress } from '../../components/progress.tsx'
import styles from './page.module.css'

/** Drops the database. A final dump is kept. */
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
  const drop = useDeleteDatabase({
    hidesErrorToast: true,
    successMessage: 'Database dropped. A final dump was saved.',
    onSuccess() {
      onClosed()
      onDropped()
    },
  })
  return (
    <section className="card" aria-labelledby="drop">
      <header className="card-header">
        <h2 id="drop">Drop database</h2>
      </header>
      <div className={`card-body ${styles.dbDrop}`}>
        <p className="text-muted">
          Deletes the database and its user, and redeploys the app without <code>DATABASE_URL</code>. A final dump is saved first and stays on this
          instance, in the list above, until you delete it.
        </p>
        <Button kind="danger" onClick={() => setConfirming(true)}>
          Drop database…
        </Button>
      </div>
      <ConfirmByNameDialog
        open={isConfirming || isRequested}
        onOpenChange={(open) => {
          // A pending drop cannot be canceled.
          if (drop.isPending) return
          drop.reset()
          setConfirming(open)
          onClosed()
        }}
        title={`Drop the database of ${project.name}?`}
        description="All data is deleted. A final dump is saved first and listed on this page."
        name={slug}
        action="Drop database"
        busy={drop.isPending}
        onConfirm={() => drop.mutate({ params: { slug } })}
      >
        {drop.isPending && <Progress label="Saving a dump, then dropping the database" />}
        {drop.error && <ProblemView problem={drop.error} />}
      </ConfirmByNameDialog>
    </section>
  )
}
