import { formatTransfer } from '../../api/transfer-progress.ts'
import { useUploadVolume } from '../../api/volumes.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { TextField } from '../../components/field.tsx'
import { FileField } from '../../components/file-field.tsx'
import { Progress } from '../../components/progress.tsx'
import { useForm } from '../../lib/use-form.ts'
import { useUi } from '../../stores/ui.ts'

interface Props {
  slug: string
  branch: string | null
  name: string
  isInUse: boolean
  onClose: () => void
}

/** Replaces the files of a volume with those of an archive, selected or dropped. */
export function UploadVolumeArchiveDialog({ slug, branch, name, isInUse, onClose }: Props) {
  const showToast = useUi((state) => state.showToast)
  const upload = useUploadVolume(slug, ({ files, before }) => {
    const count = files === 1 ? '1 file' : `${files} files`
    showToast({
      kind: 'done',
      text: `Uploaded ${count} into ${name}.${before ? ' The previous files are in a snapshot.' : ''}`,
      request_id: null,
    })
    onClose()
  })
  const { transfer } = upload
  const form = useForm({
    initial: { typed: '', selection: null as File | string | null },
    submission: upload,
    onSubmit() {
      if (!canSubmit) return
      const query = branch === null ? {} : { branch }
      void upload.start({ params: { slug, name }, query }, file, /\.zip$/i.test(file.name) ? 'application/zip' : 'application/gzip')
    },
  })
  const { typed, selection } = form.values
  const file = typeof selection === 'object' ? selection : null
  const canSubmit = file !== null && typed === name

  const selectFile = ([first, ...others]: readonly File[]) => {
    if (!first) return
    const isArchive = /\.(tgz|tar\.gz|zip)$/i.test(first.name)
    form.set({ selection: others.length > 0 ? 'Choose one file at a time.' : isArchive ? first : 'Choose a .tar.gz or .zip archive.' })
  }
  const effect = isInUse ? ' The services stop during this, and requests wait.' : ''
  return (
    <Dialog
      open
      onOpenChange={() => {
        // Clicking outside the dialog does not cancel a running upload; the Cancel button does.
        if (!transfer) onClose()
      }}
      title={`Upload an archive into ${name}`}
      description={`Replaces all files of the volume. A snapshot of the current files is taken first.${effect} If the upload fails, the current files stay.`}
    >
      <form className="stack" {...form.props}>
        <FileField
          label="Archive"
          accept=".tgz,.gz,.zip,application/gzip,application/zip"
          hint="A .tar.gz, such as a downloaded volume, or a .zip."
          file={file}
          error={typeof selection === 'string' ? selection : null}
          disabled={form.is_busy}
          onSelect={selectFile}
        />
        <TextField label={`Type ${name} to confirm`} mono disabled={form.is_busy} {...form.text('typed')} />
        {transfer &&
          (transfer.sent < transfer.total ? (
            <Progress label={`Uploading ${transfer.name}`} value={transfer.sent / transfer.total} text={formatTransfer(transfer)} />
          ) : (
            <Progress label="Saving the current files, then replacing them" />
          ))}
        {form.problem && <ProblemView problem={form.problem} />}
        <footer className="dialog-footer">
          <Button onClick={() => (transfer ? upload.cancel() : onClose())}>Cancel</Button>
          <Button kind="danger" type="submit" busy={form.is_busy} disabled={!canSubmit}>
            Replace files
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
