import { CircleAlert, CircleCheck, X } from 'lucide-react'
import { useEffect } from 'react'
import { useConnection } from '../stores/connection.ts'
import { type Toast, useUi } from '../stores/ui.ts'
import { calm } from './calm.ts'
import { IconButton } from './button.tsx'
import { CopyText } from './copy.tsx'
import './toasts.css'

// A sentence that went wrong is read more than once.
const shown_ms = { done: 4_000, failed: 12_000 }

export function Toasts() {
  const front = useConnection((state) => state.current.id)
  const toasts = useUi((state) => state.toasts).filter(({ of }) => of === front)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toasts.map((toast) => (
        <ToastView key={toast.id} toast={toast} />
      ))}
    </div>
  )
}

function ToastView({ toast }: { toast: Toast }) {
  const drop = useUi((state) => state.dropToast)
  useEffect(() => {
    const timer = setTimeout(() => drop(toast.id), shown_ms[toast.kind])
    return () => clearTimeout(timer)
  }, [toast, drop])
  const Icon = toast.kind === 'done' ? CircleCheck : CircleAlert
  return (
    <div className={`toast toast-${toast.kind}`}>
      <Icon size={17} aria-hidden />
      <div>
        <p>{calm(toast.text)}</p>
        {toast.request_id && <CopyText text={toast.request_id} />}
      </div>
      <IconButton icon={X} label="Dismiss" onClick={() => drop(toast.id)} />
    </div>
  )
}
