import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { DatabaseTable } from '../../../server/contract/database-browser.ts'
import { loadWithRetry } from '../../lib/load-with-retry.ts'
import type { SqlEditorHandle } from './create-editor.ts'
import styles from './browser.module.css'

interface Props {
  text: string
  tables: readonly DatabaseTable[]
  isWriting: boolean
  handle: RefObject<SqlEditorHandle | null>
  onChange: (text: string) => void
  onRun: () => void
}

/** The editor is a chunk of its own; a plain field stands in until it has loaded. */
export function SqlEditor({ text, tables, isWriting, handle, onChange, onRun }: Props) {
  const parent = useRef<HTMLDivElement>(null)
  const [isReady, setReady] = useState(false)
  const latest = useRef({ text, onChange, onRun })
  useLayoutEffect(() => {
    latest.current = { text, onChange, onRun }
  })
  useEffect(() => {
    let isGone = false
    void loadWithRetry(() => import('./create-editor.ts'))
      .then(({ createEditor }) => {
        if (isGone || !parent.current) return
        handle.current = createEditor({
          parent: parent.current,
          text: latest.current.text,
          tables,
          onChange: (changed) => latest.current.onChange(changed),
          onRun: () => latest.current.onRun(),
        })
        setReady(true)
      })
      .catch(() => {})
    return () => {
      isGone = true
      handle.current?.destroy()
      handle.current = null
      setReady(false)
    }
  }, [tables, handle])
  return (
    <div className={`${styles.editor} ${isWriting ? styles.writing : ''}`}>
      <div ref={parent} />
      {!isReady && (
        <textarea
          className={`mono ${styles.plainEditor}`}
          aria-label="SQL"
          rows={6}
          value={text}
          onChange={({ target }) => onChange(target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) onRun()
          }}
        />
      )}
    </div>
  )
}
