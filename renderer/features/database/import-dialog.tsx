import { type FormEvent, useState } from 'react'
import { type DumpTarget, useImportDatabase } from '../../api/databases.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { useUi } from '../../stores/ui.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { TextField } from '../../components/field.tsx'
import { FileField } from '../../components/file-field.tsx'
import { Progress } from '../../components/progress.tsx'
import { formatTransfer } from '../../api/transfer-progress.ts'
import { type SqlFile, readSqlFile } from '../../lib/database-format.ts'

/** Replaces the database with an SQL file, chosen or dropped and checked before the upload. */
interface ImportDatabaseDialogProps {
  project: Project
  service: DumpTarget | undefined
  onOpenChange: () => void
}

export function ImportDatabaseDialog({ project, service, onOpenChange }: ImportDatabaseDialogProps) {
  const { slug } = project
  const showToast = useUi((state) => state.showToast)
  const [selection, setSelection] = useState<SqlFile | string | null>(null)
  const [typed, setTyped] = useState('')
  const upload = useImportDatabase(slug, () => {
    showToast({ kind: 'done', text: 'Imported. The previous data is saved in a dump.', request_id: null })
    onOpenChange()
  })
  const { transfer } = upload
  const file = typeof selection === 'object' ? selection : null

  const selectFile = async ([first, ...others]: readonly File[]) => {
    if (!first) return
    upload.clearProblem()
    // No file is selected until the check finishes; a quick click would send the previous one.
    setSelection(null)
    setSelection(others.length > 0 ? 'Choose one file at a time.' : await readSqlFile(first, service ? 'mariadb' : 'psql'))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (file && typed === slug && !transfer) void upload.start({ params: { slug }, query: { service: service?.name } }, file.file, file.type)
  }
  return (
    <Dialog
      open
      onOpenChange={() => {
        // Clicking outside the dialog does not cancel a running upload; the Cancel button does.
        if (!transfer) onOpenChange()
      }}
      title="Import SQL file"
      description={`Replaces all data in ${service?.label ?? 'the database'}. The current data is dumped first. If any statement fails, the database stays unchanged.`}
    >
      <form className="stack" onSubmit={submit}>
        <FileField
          label="SQL file"
          accept=".sql,.gz,.sql.gz,application/sql,application/gzip"
          hint={`A .sql or .sql.gz file from ${service ? 'mariadb-dump' : 'pg_dump'}, up to 4 GiB.`}
          file={file?.file ?? null}
          error={typeof selection === 'string' ? selection : null}
          disabled={transfer !== null}
          onSelect={(files) => void selectFile(files)}
        />
        <TextField
          label={`Type ${slug} to confirm`}
          mono
          value={typed}
          disabled={transfer !== null}
          onChange={({ target }) => setTyped(target.value)}
        />
        {transfer &&
          (transfer.sent < transfer.total ? (
            <Progress label={`Uploading ${transfer.name}`} value={transfer.sent / transfer.total} text={formatTransfer(transfer)} />
          ) : (
            <Progress label="Saving a dump, then running the file" />
          ))}
        {upload.problem && <ProblemView problem={upload.problem} />}
        <footer className="dialog-footer">
          <Button onClick={() => (transfer ? upload.cancel() : onOpenChange())}>Cancel</Button>
          <Button kind="danger" type="submit" busy={transfer !== null} disabled={!file || typed !== slug}>
            {service ? `Replace data in ${service.label}` : 'Replace database'}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
