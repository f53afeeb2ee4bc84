import { FileArchive } from 'lucide-react'
import { type DragEvent, type ReactNode, useState } from 'react'
import { useOffered } from '../../api/offered.ts'
import { type Dropped, lookAtDrop } from './archive.ts'
import './upload.css'

/** Takes files that are dropped anywhere on what it holds, and says so while they hover. Parts inside that take files themselves come first. */
export function DropZone({
  invitation,
  isOn = true,
  onDropped,
  children,
}: {
  invitation: string
  isOn?: boolean
  onDropped: (dropped: Dropped) => void
  children: ReactNode
}) {
  const [isOver, setOver] = useState(false)
  const { is_here } = useOffered()
  const pathOf = is_here && window.homeport ? window.homeport.pathOf : null
  const over = (event: DragEvent) => {
    if (!isOn || !event.dataTransfer.types.includes('Files')) return
    // Somebody further in wants it.
    if (event.defaultPrevented) return setOver(false)
    event.preventDefault()
    event.dataTransfer.dropEffect = 'copy'
    setOver(true)
  }
  const drop = (event: DragEvent) => {
    setOver(false)
    if (!isOn || event.defaultPrevented || event.dataTransfer.files.length === 0) return
    event.preventDefault()
    void lookAtDrop(event.dataTransfer, pathOf).then(onDropped)
  }
  return (
    <div
      className="drop-zone"
      onDragOver={over}
      onDragLeave={(event) => {
        if (!(event.relatedTarget instanceof Node) || !event.currentTarget.contains(event.relatedTarget)) setOver(false)
      }}
      onDrop={drop}
    >
      {children}
      {isOver && (
        <div className="drop-veil" aria-hidden>
          <p>
            <FileArchive size={20} />
            {invitation}
          </p>
        </div>
      )}
    </div>
  )
}
