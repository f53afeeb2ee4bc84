import { useState } from 'react'
import type { Project } from '../../../server/contract/projects.ts'
import { useAction } from '../../api/actions.ts'
import { Button } from '../../ui/button.tsx'
import { NamedConfirm } from '../../ui/dialog.tsx'
import { ProblemView } from '../../ui/feedback.tsx'
import { Progress } from '../../ui/progress.tsx'

/** The end of the database. A dump stays. */
export function Drop({
  project,
  isAsked,
  onAnswered,
  onDropped,
}: {
  project: Project
  isAsked: boolean
  onAnswered: () => void
  onDropped: () => void
}) {
  const { slug } = project
  const [asking, setAsking] = useState(false)
  const drop = useAction('deleteDatabase', {
    quiet: true,
    done: 'The database is dropped. A dump of it was written first.',
    onDone() {
      onAnswered()
      onDropped()
    },
  })
  return (
    <section className="card" aria-labelledby="drop">
      <header className="card-head">
        <h2 id="drop">Drop the database</h2>
      </header>
      <div className="card-body db-drop">
        <p className="quiet">
          The database and its user go, and the app is deployed again without <code>DATABASE_URL</code>. A dump is written first; it stays on this
          instance, in the list above, until you delete it.
        </p>
        <Button kind="danger" onClick={() => setAsking(true)}>
          Drop…
        </Button>
      </div>
      <NamedConfirm
        open={asking || isAsked}
        onOpenChange={(open) => {
          // What is under way cannot be taken back.
          if (drop.isPending) return
          drop.reset()
          setAsking(open)
          onAnswered()
        }}
        title={`Drop the database of ${project.name}?`}
        about="All its data goes out of service. A dump is written first, and is listed here with the place where it lies."
        name={slug}
        action="Drop the database"
        busy={drop.isPending}
        onConfirm={() => drop.mutate({ params: { slug } })}
      >
        {drop.isPending && <Progress label="Writing the dump, then dropping" />}
        {drop.error && <ProblemView problem={drop.error} />}
      </NamedConfirm>
    </section>
  )
}
