import { useState } from 'react'
import type { UnsavedFiles } from '../../../server/contract/unsaved-files.ts'
import type { VolumeSnapshot } from '../../../server/contract/volumes.ts'
import { useAddVolume } from '../../api/volumes.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { formatBytes, formatDateTime } from '../../lib/format.ts'
import styles from './volumes.module.css'

/** Adds a volume at a path. If files of an earlier version were saved, the user selects the files with which it starts. */
export function KeepFilesDialog({
  slug,
  report: { path, service, size_bytes },
  saved,
  onClose,
  onDeployed,
}: {
  slug: string
  report: UnsavedFiles
  saved: VolumeSnapshot
  onClose: () => void
  onDeployed: (id: string | null) => void
}) {
  const [begin, setBegin] = useState<'saved' | 'live'>('saved')
  const keep = useAddVolume({
    hidesErrorToast: true,
    successMessage: `Keeping ${path}.`,
    onSuccess({ deployment_id }) {
      onDeployed(deployment_id)
      onClose()
    },
  })
  const choices = [
    {
      value: 'saved' as const,
      text: `Files of the earlier version, saved ${formatDateTime(saved.created_at)} (${formatBytes(saved.bytes)} compressed)`,
    },
    { value: 'live' as const, text: `Files of the live version${size_bytes === null ? '' : ` (${formatBytes(size_bytes)})`}` },
  ]
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Keep ${path}?`}
      description="The version that wrote these files was replaced, and the files were saved before that. Choose the files that the volume starts with. The snapshot is kept either way."
    >
      <fieldset className={styles.choices}>
        <legend className="visually-hidden">Start with</legend>
        {choices.map(({ value, text }) => (
          <label key={value} className={styles.choice}>
            <input type="radio" name="begin" checked={begin === value} onChange={() => setBegin(value)} />
            <span>{text}</span>
          </label>
        ))}
      </fieldset>
      {keep.error && <ProblemView problem={keep.error} />}
      <footer className="dialog-footer">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind="primary"
          busy={keep.isPending}
          onClick={() =>
            keep.mutate({
              params: { slug },
              body: { path, ...(service !== null && { service }), ...(begin === 'saved' && { snapshot_id: saved.id }) },
            })
          }
        >
          Keep files
        </Button>
      </footer>
    </Dialog>
  )
}
