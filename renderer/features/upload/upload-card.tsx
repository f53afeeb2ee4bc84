import { CircleAlert, X } from 'lucide-react'
import { ApiError } from '../../../server/client/api-error.ts'
import { type Transfer } from '../../api/use-upload.ts'
import type { Upload } from '../../stores/uploads.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { CopyText } from '../../components/copy.tsx'
import { Progress } from '../../components/progress.tsx'
import { formatTransfer } from '../../api/transfer-progress.ts'
import { Prose } from '../../components/prose.tsx'
import { ChooseArchiveButton } from './choose-archive-button.tsx'
import type { DroppedSource } from '../../lib/dropped-source.ts'
import styles from './upload.module.css'

/** An upload with progress and cancel button, or its error with a retry. */
export function UploadCard({
  upload,
  onTake: onSource,
  onDismiss,
}: {
  upload: Upload
  onTake: (dropped: DroppedSource) => void
  onDismiss: () => void
}) {
  if (upload.state === 'sending') {
    const { transfer } = upload
    const isSent = transfer.sent >= transfer.total
    return (
      <section className={`card ${styles.uploadCard}`} aria-label="Upload">
        {isSent ? (
          <Progress label={`Checking ${transfer.name}`} text={`${formatTransfer(transfer)}. Verifying before the build…`} />
        ) : (
          <Progress label={`Uploading ${transfer.name}`} value={transfer.sent / transfer.total} text={formatTransfer(transfer)} />
        )}
        <Button icon={X} onClick={upload.cancel}>
          Cancel
        </Button>
        <span className="visually-hidden" role="status">
          {announcement(transfer)}
        </span>
      </section>
    )
  }
  const { problem, name } = upload
  return (
    <section className="problem" aria-label="Upload" role="alert">
      <CircleAlert size={18} aria-hidden />
      <div>
        <p className="problem-text">
          {name && `${name} was rejected. `}
          <Prose text={problem.message} />
        </p>
        {problem instanceof ApiError && (
          <>
            {problem.issues.map((issue) => (
              <p key={issue.path} className="text-muted">
                <code>{issue.path}</code> {issue.message}
              </p>
            ))}
            <p className="problem-code">
              <code>{problem.code}</code>
              {problem.request_id && <CopyText text={problem.request_id} />}
            </p>
          </>
        )}
      </div>
      <div className={styles.uploadActions}>
        <ChooseArchiveButton onChosen={onSource}>Choose another…</ChooseArchiveButton>
        <IconButton icon={X} label="Dismiss" onClick={onDismiss} />
      </div>
    </section>
  )
}

/** Screen reader announcements at each quarter, instead of at every percent. */
function announcement({ name, sent, total }: Transfer): string {
  if (sent >= total) return `${name} is uploaded and is being checked.`
  const quarter = Math.floor((sent / total) * 4)
  return quarter === 0 ? `Uploading ${name}.` : `${quarter * 25} percent of ${name} uploaded.`
}
