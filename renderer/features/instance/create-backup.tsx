import { Archive } from 'lucide-react'
import { useState } from 'react'
import { useBackupSince, useCreateBackup } from '../../api/maintenance.ts'
import type { CallOutput } from '../../../server/client/operation-types.ts'
import { useUi } from '../../stores/ui.ts'
import { Button } from '../../components/button.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { formatBytes, formatDuration } from '../../lib/format.ts'
import { useNow } from '../../lib/use-now.ts'
import { Progress } from '../../components/progress.tsx'
import styles from './backups-page.module.css'

/** Describes backups and creates one. */
export function CreateBackup() {
  const showToast = useUi((state) => state.showToast)
  const [created, setCreated] = useState<CallOutput<'createBackup'> | null>(null)
  const since = useBackupSince()
  const createBackup = useCreateBackup({
    hidesErrorToast: true,
    onSuccess(answer) {
      setCreated(answer)
      showToast({ kind: 'done', text: `Backup created: ${formatBytes(answer.backup.bytes)}.`, request_id: null })
    },
  })
  return (
    <section className="card card-body stack" aria-label="Create backup">
      <div className={styles.backupMake}>
        <p className="text-muted">
          The whole instance in one file, created without downtime: projects, deployments, settings, logs, uploads, builds and a dump of every
          database. Docker images are rebuilt after a restore. Variables and passwords are encrypted. Logs, sources and database contents are not, so
          store the file securely, on another machine.
        </p>
        <Button kind="primary" icon={Archive} busy={since !== undefined} onClick={() => createBackup.mutate({})}>
          Create backup
        </Button>
      </div>
      {since !== undefined && <BackupProgress since={since} />}
      {createBackup.error && since === undefined && <ProblemView problem={createBackup.error} />}
      {created && created.left_out.length > 0 && (
        <div className={styles.backupLeftOut} role="status">
          <p>
            <strong>Not in {created.backup.name}:</strong>
          </p>
          <ul>
            {created.left_out.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </div>
      )}
    </section>
  )
}

function BackupProgress({ since }: { since: number }) {
  const now = useNow(1_000)
  return <Progress label="Creating the backup; you can leave this page" text={formatDuration(Math.max(0, now - since))} />
}
