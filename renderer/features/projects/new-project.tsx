import { useEffect, useState } from 'react'
import { useUi } from '../../stores/ui.ts'
import { Dialog } from '../../ui/dialog.tsx'
import type { Dropped } from '../upload/archive.ts'
import { DropZone } from '../upload/drop-zone.tsx'
import { useOffer } from '../upload/offer.ts'
import { SourceForm } from './source-form.tsx'

export default function NewProject() {
  const setOpen = useUi((state) => state.setNewProjectOpen)
  // What was dropped on the list behind it is what it begins with.
  const [dropped, setDropped] = useState<Dropped | null>(() => useOffer.getState().offered)
  useEffect(() => () => useOffer.getState().offer(null), [])
  return (
    <Dialog open onOpenChange={setOpen} title="New project" about="From a folder, a git address or an archive to a live address.">
      <DropZone invitation="Drop it here" onDropped={setDropped}>
        <SourceForm dropped={dropped} onDone={() => setOpen(false)} />
      </DropZone>
    </Dialog>
  )
}
