import { useMutationState, useQueryClient } from '@tanstack/react-query'
import { Archive } from 'lucide-react'
import { useState } from 'react'
import { useAction } from '../../api/actions.ts'
import type { Answer } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useUi } from '../../stores/ui.ts'
import { Button } from '../../ui/button.tsx'
import { ProblemView } from '../../ui/feedback.tsx'
import { bytes, duration } from '../../ui/format.ts'
import { useNow } from '../../ui/now.ts'
import { Progress } from '../../ui/progress.tsx'

/** What a backup is, and the making of one. */
export function MakeBackup() {
  const cache = useQueryClient()
  const showToast = useUi((state) => state.showToast)
  const [made, setMade] = useState<Answer<'createBackup'> | null>(null)
  const since = useMutationState({ filters: { mutationKey: ['createBackup'], status: 'pending' }, select: ({ state }) => state.submittedAt })[0]
  const make = useAction('createBackup', {
    quiet: true,
    onDone(answer) {
      setMade(answer)
      showToast({ kind: 'done', text: `The backup is made: ${bytes(answer.backup.bytes)}.`, request_id: null })
      for (const queryKey of [keys.backups, keys.disk]) void cache.invalidateQueries({ queryKey })
    },
  })
  return (
    <section className="card card-body stack" aria-label="Make a backup">
      <div className="backup-make">
        <p className="quiet">
          The whole instance in one file, made while everything goes on: projects, deployments, settings, logs, what was uploaded and built, and a
          dump of every database; Docker images are built again. Variables and passwords in it are sealed; logs, sources and the data of your
          databases are not: keep it as you keep those, and on another machine.
        </p>
        <Button kind="primary" icon={Archive} busy={since !== undefined} onClick={() => make.mutate({})}>
          Make a backup
        </Button>
      </div>
      {since !== undefined && <Making since={since} />}
      {make.error && since === undefined && <ProblemView problem={make.error} />}
      {made && made.left_out.length > 0 && (
        <div className="backup-left-out" role="status">
          <p>
            <strong>Not in {made.backup.name}:</strong>
          </p>
          <ul>
            {made.left_out.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </div>
      )}
    </section>
  )
}

function Making({ since }: { since: number }) {
  const now = useNow(1_000)
  return <Progress label="Making the backup; you may go elsewhere meanwhile" text={duration(Math.max(0, now - since))} />
}
