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
import { useForm } from '../../lib/use-form.ts'

/** Replaces the database with an SQL file, chosen or dropped and checked before the upload. */
interface ImportDatabaseDialogProps {
  project: Project
  service: DumpTarget | undefined
  onOpenChange: () => void
}

export function ImportDatabaseDialog({ project, service, onOpenChange }: ImportDatabaseDialogProps) {
  const { slug } = project
  const showToast = useUi((state) => state.showToast)
  const upload = useImportDatabase(slug, () => {
    showToast({ kind: 'done', text: 'Imported. The previous data is saved in a dump.', request_id: null })
    onOpenChange()
  })
  const { transfer } = upload
  const form = useForm({
    initial: { typed: '', selection: null as SqlFile | string | null },
    submission: upload,
    onSubmit: () => void (canSubmit && upload.start({ params: { slug }, query: { service: service?.name } }, file.file, file.type)),
  })
  const { typed, selection } = form.values
  const file = typeof selection === 'object' ? selection : null
  const canSubmit = file !== null && typed === slug

  const selectFile = async ([first, ...others]: readonly File[]) => {
    if (!first) return
    // No file is selected until the check finishes; a quick click would send the previous one.
    form.set({ selection: null })
    form.set({ selection: others.length > 0 ? 'Choose one file at a time.' : await readSqlFile(first, service ? 'mariadb' : 'psql') })
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
      <form className="stack" {...form.props}>
        <FileField
          label="SQL file"
          accept=".sql,.gz,.sql.gz,application/sql,application/gzip"
          hint={`A .sql or .sql.gz file from ${service ? 'mariadb-dump' : 'pg_dump'}, up to 4 GiB.`}
          file={file?.file ?? null}
          error={typeof selection === 'string' ? selection : null}
          disabled={form.is_busy}
          onSelect={(files) => void selectFile(files)}
        />
        <TextField label={`Type ${slug} to confirm`} mono disabled={form.is_busy} {...form.text('typed')} />
        {transfer &&
          (transfer.sent < transfer.total ? (
            <Progress label={`Uploading ${transfer.name}`} value={transfer.sent / transfer.total} text={formatTransfer(transfer)} />
          ) : (
            <Progress label="Saving a dump, then running the file" />
          ))}
        {form.problem && <ProblemView problem={form.problem} />}
        <footer className="dialog-footer">
          <Button onClick={() => (transfer ? upload.cancel() : onOpenChange())}>Cancel</Button>
          <Button kind="danger" type="submit" busy={form.is_busy} disabled={!canSubmit}>
            {service ? `Replace data in ${service.label}` : 'Replace database'}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
