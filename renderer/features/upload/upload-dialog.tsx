import { FileArchive } from 'lucide-react'
import { limits } from '../../../server/contract/limits.ts'
import { useState } from 'react'
import { Dialog } from '../../ui/dialog.tsx'
import { Prose } from '../../ui/prose.tsx'
import type { Dropped } from './archive.ts'
import { ChooseFile } from './choose-file.tsx'
import { DropZone } from './drop-zone.tsx'
import './upload.css'

/** Asks for the archive of a project that is there already. */
export function UploadDialog({
  name,
  onOpenChange,
  onTake,
}: {
  name: string
  onOpenChange: (open: boolean) => void
  onTake: (dropped: Dropped) => void
}) {
  const [fault, setFault] = useState<string | null>(null)
  const take = (dropped: Dropped) => {
    if (dropped.kind === 'fault') return setFault(dropped.text)
    onTake(dropped)
    onOpenChange(false)
  }
  return (
    <Dialog open onOpenChange={onOpenChange} title={`Upload to ${name}`} about="What serves now goes on serving until the new version answers.">
      <DropZone invitation="Drop it here" onDropped={take}>
        <ArchiveBerth fault={fault} onChosen={take} />
      </DropZone>
    </Dialog>
  )
}

/** The place for an archive, empty: what fits in, and the button for the file dialog. */
export function ArchiveBerth({ fault, onChosen }: { fault: string | null; onChosen: (chosen: Dropped) => void }) {
  return (
    <div className="berth">
      <FileArchive size={22} aria-hidden />
      <p>
        <strong>Drop a .zip or .tar.gz here</strong>
      </p>
      <p className="faint">Up to {limits.upload.packed_bytes / 2 ** 20} MiB. Folders that tools make, such as node_modules, are left out.</p>
      <ChooseFile onChosen={onChosen}>Choose a file…</ChooseFile>
      {fault !== null && (
        <p className="field-error" role="alert">
          <Prose text={fault} />
        </p>
      )}
    </div>
  )
}
