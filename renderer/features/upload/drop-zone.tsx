import { FileArchive } from 'lucide-react'
import { type DragEvent, type ReactNode, useState } from 'react'
import { useCapabilities } from '../../api/capabilities.ts'
import { type DroppedSource, inspectDrop } from '../../lib/dropped-source.ts'
import styles from './upload.module.css'

/** Accepts files dropped anywhere on its content, and highlights while they hover. Nested drop zones take precedence. */
export function DropZone({
  label,
  isEnabled = true,
  onDropped,
  children,
}: {
  label: string
  isEnabled?: boolean
  onDropped: (dropped: DroppedSource) => void
  children: ReactNode
}) {
  const [isDragOver, setDragOver] = useState(false)
  const { is_local } = useCapabilities()
  const getPathForFile = is_local && window.homeport ? window.homeport.getPathForFile : null
  const onDragOver = (event: DragEvent) => {
    if (!isEnabled || !event.dataTransfer.types.includes('Files')) return
    // A nested drop zone handled the event.
    if (event.defaultPrevented) return setDragOver(false)
    event.preventDefault()
    event.dataTransfer.dropEffect = 'copy'
    setDragOver(true)
  }
  const onDrop = (event: DragEvent) => {
    setDragOver(false)
    if (!isEnabled || event.defaultPrevented || event.dataTransfer.files.length === 0) return
    event.preventDefault()
    void inspectDrop(event.dataTransfer, getPathForFile).then(onDropped)
  }
  return (
    <div
      className={styles.dropZone}
      onDragOver={onDragOver}
      onDragLeave={(event) => {
        if (!(event.relatedTarget instanceof Node) || !event.currentTarget.contains(event.relatedTarget)) setDragOver(false)
      }}
      onDrop={onDrop}
    >
      {children}
      {isDragOver && (
        <div className={styles.dropOverlay} aria-hidden>
          <p>
            <FileArchive size={20} />
            {label}
          </p>
        </div>
      )}
    </div>
  )
}
