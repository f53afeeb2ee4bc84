import { CircleAlert, CircleCheck, X } from 'lucide-react'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useConnection } from '../stores/connection.ts'
import { type Toast, useUi } from '../stores/ui.ts'
import { HelpLink } from '../features/help/help-link.tsx'
import { calm } from './calm.ts'
import { IconButton } from './button.tsx'
import { CopyText } from './copy.tsx'
import './toasts.css'

// A sentence that went wrong is read more than once.
const shown_ms = { done: 4_000, failed: 12_000 }

export function Toasts() {
  const front = useConnection((state) => state.current.id)
  const toasts = useUi((state) => state.toasts).filter(({ of }) => of === front)
  const drop = useUi((state) => state.dropToast)
  const newest = toasts.at(-1)?.id
  useEffect(() => {
    if (newest === undefined) return
    // Escape belongs to what is open above the page first.
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.defaultPrevented && !document.querySelector('[role=dialog], [role=menu]')) drop(newest)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [newest, drop])
  // What the keyboard reaches is scrolled clear of them.
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const covered = toasts.length === 0 ? 0 : window.innerHeight - (box.current?.getBoundingClientRect().top ?? 0)
    document.documentElement.style.scrollPaddingBottom = `${covered}px`
  }, [toasts.length])
  return (
    <div ref={box} className="toasts" role="status" aria-live="polite">
      {toasts.map((toast) => (
        <ToastView key={toast.id} toast={toast} />
      ))}
    </div>
  )
}

function ToastView({ toast }: { toast: Toast }) {
  const drop = useUi((state) => state.dropToast)
  // Whoever points at it, or is in it with the keyboard, still reads.
  const [isHeld, setHeld] = useState(false)
  useEffect(() => {
    if (isHeld) return
    const timer = setTimeout(() => drop(toast.id), shown_ms[toast.kind])
    return () => clearTimeout(timer)
  }, [toast, drop, isHeld])
  const Icon = toast.kind === 'done' ? CircleCheck : CircleAlert
  return (
    <div
      className={`toast toast-${toast.kind}`}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <Icon size={17} aria-hidden />
      <div>
        <p>{calm(toast.text)}</p>
        {toast.request_id && <CopyText text={toast.request_id} />}
        <HelpLink topic={toast.help} />
      </div>
      <IconButton icon={X} label="Dismiss" onClick={() => drop(toast.id)} />
    </div>
  )
}
