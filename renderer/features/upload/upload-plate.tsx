import { CircleAlert, X } from 'lucide-react'
import { ApiProblem } from '../../api/problem.ts'
import { type Transfer } from '../../api/use-upload.ts'
import type { Upload } from '../../stores/uploads.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { Progress } from '../../ui/progress.tsx'
import { transferWords } from '../../ui/transfer-words.ts'
import { Prose } from '../../ui/prose.tsx'
import { ChooseFile } from './choose-file.tsx'
import type { Dropped } from './archive.ts'
import './upload.css'

/** An archive that goes up: how far it is, and the way out; or why it was not taken, and the next try. */
export function UploadPlate({ upload, onTake, onDismiss }: { upload: Upload; onTake: (dropped: Dropped) => void; onDismiss: () => void }) {
  if (upload.state === 'sending') {
    const { transfer } = upload
    const isAway = transfer.sent >= transfer.total
    return (
      <section className="card upload-plate" aria-label="Upload">
        {isAway ? (
          <Progress label={`Checking ${transfer.name}`} text={`${transferWords(transfer)}. It is checked before anything is built.`} />
        ) : (
          <Progress label={`Uploading ${transfer.name}`} value={transfer.sent / transfer.total} text={transferWords(transfer)} />
        )}
        <Button icon={X} onClick={upload.cancel}>
          Cancel
        </Button>
        <span className="unseen" role="status">
          {spoken(transfer)}
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
          {name && `${name} was not taken. `}
          <Prose text={problem.message} />
        </p>
        {problem instanceof ApiProblem && (
          <>
            {problem.issues.map((issue) => (
              <p key={issue.path} className="quiet">
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
      <div className="upload-again">
        <ChooseFile onChosen={onTake}>Choose another…</ChooseFile>
        <IconButton icon={X} label="Dismiss" onClick={onDismiss} />
      </div>
    </section>
  )
}

/** For those who listen: a word now and then, not at every percent. */
function spoken({ name, sent, total }: Transfer): string {
  if (sent >= total) return `${name} is sent, and is being checked.`
  const quarter = Math.floor((sent / total) * 4)
  return quarter === 0 ? `Uploading ${name}.` : `${quarter * 25} percent of ${name} is sent.`
}
