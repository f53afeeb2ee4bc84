import { Download } from 'lucide-react'
import { useEffect, useState } from 'react'
import { homeId } from '../../stores/address.ts'
import { useConnection } from '../../stores/connection.ts'
import { useUi } from '../../stores/ui.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { FromAnother } from '../promote/from-another.tsx'
import type { Dropped } from '../upload/archive.ts'
import { DropZone } from '../upload/drop-zone.tsx'
import { useOffer } from '../upload/offer.ts'
import { SourceForm } from './source-form.tsx'

export default function NewProject() {
  const setOpen = useUi((state) => state.setNewProjectOpen)
  // What was dropped on the list behind it is what it begins with.
  const [dropped, setDropped] = useState<Dropped | null>(() => useOffer.getState().offered)
  const [isFromAnother, setFromAnother] = useState(false)
  const mayPull = useConnection(({ connections, current }) => current.id === homeId && connections.length > 1)
  useEffect(() => () => useOffer.getState().offer(null), [])
  return (
    <Dialog open onOpenChange={setOpen} title="New project" about="From a folder, a git address or an archive to a live address.">
      {isFromAnother ? (
        <FromAnother onBack={() => setFromAnother(false)} onDone={() => setOpen(false)} />
      ) : (
        <DropZone invitation="Drop it here" onDropped={setDropped}>
          <SourceForm dropped={dropped} onDone={() => setOpen(false)} />
          {mayPull && (
            <p className="source-elsewhere">
              <Button kind="bare" icon={Download} onClick={() => setFromAnother(true)}>
                From another instance…
              </Button>
            </p>
          )}
        </DropZone>
      )}
    </Dialog>
  )
}
