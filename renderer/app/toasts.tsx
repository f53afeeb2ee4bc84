import { CircleAlert, CircleCheck, X } from 'lucide-react'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useConnection } from '../stores/connection.ts'
import { type Toast, useUi } from '../stores/ui.ts'
import { HelpLink } from '../components/help-link.tsx'
import { sanitizeForDisplay } from '../lib/sanitize-for-display.ts'
import { IconButton } from '../components/button.tsx'
import { CopyText } from '../components/copy.tsx'
import styles from './toasts.module.css'

// Errors stay longer, because they take longer to read.
const displayTime_ms = { done: 4_000, failed: 12_000 }

export function Toasts() {
  const currentId = useConnection((state) => state.current.id)
  const toasts = useUi((state) => state.toasts).filter(({ of }) => of === currentId)
  const dismissToast = useUi((state) => state.dismissToast)
  const newest = toasts.at(-1)?.id
  useEffect(() => {
    if (newest === undefined) return
    // Escape closes an open dialog or menu first.
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.defaultPrevented && !document.querySelector('[role=dialog], [role=menu]')) dismissToast(newest)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [newest, dismissToast])
  // Scrolls focused elements out from under the toasts.
  const container = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const covered = toasts.length === 0 ? 0 : window.innerHeight - (container.current?.getBoundingClientRect().top ?? 0)
    document.documentElement.style.scrollPaddingBottom = `${covered}px`
  }, [toasts.length])
  return (
    <div ref={container} className={styles.toasts} role="status" aria-live="polite">
      {toasts.map((toast) => (
        <ToastView key={toast.id} toast={toast} />
      ))}
    </div>
  )
}

function ToastView({ toast }: { toast: Toast }) {
  const dismissToast = useUi((state) => state.dismissToast)
  // Toasts stay while they are hovered or contain the focus.
  const [isPaused, setPaused] = useState(false)
  useEffect(() => {
    if (isPaused) return
    const timer = setTimeout(() => dismissToast(toast.id), displayTime_ms[toast.kind])
    return () => clearTimeout(timer)
  }, [toast, dismissToast, isPaused])
  const Icon = toast.kind === 'done' ? CircleCheck : CircleAlert
  return (
    <div
      className={`${styles.toast} ${styles[`toast-${toast.kind}`] ?? ''}`}
      onPointerEnter={() => setPaused(true)}
      onPointerLeave={() => setPaused(false)}
      onFocus={() => setPaused(true)}
      onBlur={() => setPaused(false)}
    >
      <Icon size={17} aria-hidden />
      <div>
        <p>{sanitizeForDisplay(toast.text)}</p>
        {toast.request_id && <CopyText text={toast.request_id} />}
        <HelpLink topic={toast.help} />
      </div>
      <IconButton icon={X} label="Dismiss" onClick={() => dismissToast(toast.id)} />
    </div>
  )
}
