import { FileArchive } from 'lucide-react'
import { limits } from '../../../server/contract/limits.ts'
import { useState } from 'react'
import { Dialog } from '../../components/dialog.tsx'
import { Prose } from '../../components/prose.tsx'
import type { DroppedSource } from '../../lib/dropped-source.ts'
import { ChooseArchiveButton } from './choose-archive-button.tsx'
import { DropZone } from './drop-zone.tsx'
import styles from './upload.module.css'

/** Uploads an archive to an existing project. */
export function UploadArchiveDialog({
  name,
  onOpenChange,
  onSource,
}: {
  name: string
  onOpenChange: (open: boolean) => void
  onSource: (dropped: DroppedSource) => void
}) {
  const [error, setError] = useState<string | null>(null)
  const acceptSource = (dropped: DroppedSource) => {
    if (dropped.kind === 'fault') return setError(dropped.text)
    onSource(dropped)
    onOpenChange(false)
  }
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title={`Upload to ${name}`}
      description="No downtime: the current version stays live until the new one is healthy."
    >
      <DropZone label="Drop here" onDropped={acceptSource}>
        <ArchiveDropArea error={error} onChosen={acceptSource} />
      </DropZone>
    </Dialog>
  )
}

/** The empty drop area: accepted files and the button for the file dialog. */
export function ArchiveDropArea({ error, onChosen }: { error: string | null; onChosen: (chosen: DroppedSource) => void }) {
  return (
    <div className={styles.dropArea}>
      <FileArchive size={22} aria-hidden />
      <p>
        <strong>Drop a .zip or .tar.gz here</strong>
      </p>
      <p className="text-subtle">Up to {limits.upload.packed_bytes / 2 ** 20} MiB. Generated folders, such as node_modules, are ignored.</p>
      <ChooseArchiveButton onChosen={onChosen}>Choose file…</ChooseArchiveButton>
      {error !== null && (
        <p className="field-error" role="alert">
          <Prose text={error} />
        </p>
      )}
    </div>
  )
}
