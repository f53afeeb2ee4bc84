import { Download } from 'lucide-react'
import { useEffect, useState } from 'react'
import { localInstanceId } from '../../lib/instance-path.ts'
import { useConnection } from '../../stores/connection.ts'
import { useUi } from '../../stores/ui.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { PullFromInstance } from '../promotion/index.ts'
import type { DroppedSource } from '../../lib/dropped-source.ts'
import { DropZone } from '../upload/index.ts'
import { useDroppedSource } from '../../stores/dropped-source.ts'
import { SourceForm } from './source-form.tsx'
import styles from './source-form.module.css'

export default function NewProject() {
  const setOpen = useUi((state) => state.setNewProjectOpen)
  // Starts with the files that were dropped on the project list.
  const [dropped, setDropped] = useState<DroppedSource | null>(() => useDroppedSource.getState().source)
  const [isPulling, setPulling] = useState(false)
  const canPull = useConnection(({ connections, current }) => current.id === localInstanceId && connections.length > 1)
  useEffect(() => () => useDroppedSource.getState().setSource(null), [])
  return (
    <Dialog open onOpenChange={setOpen} title="New project" description="Deploy from a folder, a Git URL or an archive.">
      {isPulling ? (
        <PullFromInstance onBack={() => setPulling(false)} onDone={() => setOpen(false)} />
      ) : (
        <DropZone label="Drop here" onDropped={setDropped}>
          <SourceForm dropped={dropped} onDone={() => setOpen(false)} />
          {canPull && (
            <p className={styles.sourceAlternatives}>
              <Button kind="bare" icon={Download} onClick={() => setPulling(true)}>
                From another instance…
              </Button>
            </p>
          )}
        </DropZone>
      )}
    </Dialog>
  )
}
