import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import { type ReactNode, useState } from 'react'
import { Button, IconButton } from './button.tsx'
import { sanitizeForDisplay } from '../lib/sanitize-for-display.ts'
import { TextField } from './field.tsx'
import { useRemoteInstance } from '../lib/remote-instance.ts'
import { useForm } from '../lib/use-form.ts'
import { restoreFocus, setFocusTargets, collectFocusTargets } from '../lib/use-restore-focus.ts'
import './dialog.css'

interface Props {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: string
  /** A sentence below the title. */
  description?: ReactNode
  children: ReactNode
}

export function Dialog({ open, onOpenChange, title, description, children }: Props) {
  // Read before the dialog renders, because a menu item that opened it disappears right after.
  const [wasOpen, setWasOpen] = useState(false)
  const [focusTargets, setTrail] = useState<HTMLElement[]>([])
  if (open !== wasOpen) {
    setWasOpen(open)
    if (open) setTrail(collectFocusTargets(document.activeElement))
  }
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="scrim" />
        <Radix.Content
          className="dialog"
          {...(description ? {} : { 'aria-describedby': undefined })}
          onOpenAutoFocus={({ currentTarget }) => currentTarget instanceof Element && setFocusTargets(currentTarget, focusTargets)}
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            restoreFocus(focusTargets)
          }}
        >
          <header className="dialog-header">
            <InstanceLabel />
            <Radix.Title className="dialog-title">{sanitizeForDisplay(title)}</Radix.Title>
            {description && (
              <Radix.Description className="text-muted">
                {typeof description === 'string' ? sanitizeForDisplay(description) : description}
              </Radix.Description>
            )}
          </header>
          {children}
          {/* Last in the DOM, so that the first field gets the initial focus. */}
          <Radix.Close asChild>
            <IconButton icon={X} label="Close" className="dialog-close" />
          </Radix.Close>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** Names the remote instance in a dialog, to prevent accidental changes on the wrong instance. */
function InstanceLabel() {
  const remote = useRemoteInstance()
  if (!remote) return null
  const { name, origin, hue } = remote
  return (
    <p className="dialog-instance" style={{ '--hue': hue } as React.CSSProperties}>
      <span>On {sanitizeForDisplay(name)}</span> <span className="mono">{URL.parse(origin)?.host}</span>
    </p>
  )
}

/** Requires typing the name, because the deletion cannot be undone. */
export function ConfirmByNameDialog({
  open,
  onOpenChange,
  title,
  description,
  name,
  action,
  busy,
  onConfirm,
  children,
}: Omit<Props, 'children'> & { name: string; action: string; busy: boolean; onConfirm: () => void; children?: ReactNode }) {
  const form = useForm({ initial: { typed: '' }, onSubmit: ({ typed }) => typed === name && onConfirm() })
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => {
        form.discard()
        onOpenChange(next)
      }}
      title={title}
      description={description}
    >
      <form className="stack" {...form.props}>
        <TextField label={`Type ${sanitizeForDisplay(name)} to confirm`} mono {...form.text('typed')} />
        {children}
        <footer className="dialog-footer">
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          <Button kind="danger" type="submit" busy={busy} disabled={form.values.typed !== name}>
            {action}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
