import { type DragEvent, useRef, useState } from 'react'
import { formatBytes } from '../lib/format.ts'
import { Button } from './button.tsx'
import styles from './file-field.module.css'

interface FileFieldProps {
  label: string
  /** As in the attribute `accept` of an input. */
  accept: string
  hint: string
  /** The selected file. */
  file: { name: string; size: number } | null
  error: string | null
  disabled: boolean
  /** Files were chosen or dropped. */
  onSelect(files: readonly File[]): void
}

/** A file that is selected or dropped. */
export function FileField({ label, accept, hint, file, error, disabled, onSelect }: FileFieldProps) {
  const [isDragOver, setDragOver] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const select = (files: FileList | null) => {
    if (!disabled && files !== null && files.length > 0) onSelect([...files])
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setDragOver(false)
    select(event.dataTransfer.files)
  }
  return (
    <>
      <div
        className={`${styles.fileField} ${isDragOver ? styles.fileFieldOver : ''}`}
        onDragOver={(event) => {
          event.preventDefault()
          setDragOver(true)
        }}
        onDragLeave={() => setDragOver(false)}
        onDrop={drop}
      >
        <input
          ref={input}
          type="file"
          className="visually-hidden"
          accept={accept}
          aria-label={label}
          tabIndex={-1}
          onChange={({ target }) => {
            select(target.files)
            target.value = ''
          }}
        />
        <div>
          {file ? (
            <p>
              <strong>{file.name}</strong> <span className="text-subtle">{formatBytes(file.size)}</span>
            </p>
          ) : (
            <p>Drop a file here or choose one.</p>
          )}
          <p className="field-hint">{hint}</p>
        </div>
        <Button disabled={disabled} onClick={() => input.current?.click()}>
          {file ? 'Choose another file…' : 'Choose file…'}
        </Button>
      </div>
      {error !== null && (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
    </>
  )
}
