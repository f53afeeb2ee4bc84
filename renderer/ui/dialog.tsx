import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import { type FormEvent, type ReactNode, useState } from 'react'
import { homeId } from '../stores/address.ts'
import { useConnection } from '../stores/connection.ts'
import { Button, IconButton } from './button.tsx'
import { calm } from './calm.ts'
import { TextField } from './field.tsx'
import { goBack, keepTrail, trailFrom } from './way-back.ts'
import './dialog.css'

interface Props {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: string
  /** One sentence under the title. */
  about?: ReactNode
  children: ReactNode
}

export function Dialog({ open, onOpenChange, title, about, children }: Props) {
  // Looked at before the dialog is drawn: an item of a menu is gone right after.
  const [wasOpen, setWasOpen] = useState(false)
  const [trail, setTrail] = useState<HTMLElement[]>([])
  if (open !== wasOpen) {
    setWasOpen(open)
    if (open) setTrail(trailFrom(document.activeElement))
  }
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="scrim" />
        <Radix.Content
          className="dialog"
          {...(about ? {} : { 'aria-describedby': undefined })}
          onOpenAutoFocus={({ currentTarget }) => currentTarget instanceof Element && keepTrail(currentTarget, trail)}
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            goBack(trail)
          }}
        >
          <header className="dialog-head">
            <InFront />
            <Radix.Title className="dialog-title">{calm(title)}</Radix.Title>
            {about && <Radix.Description className="quiet">{typeof about === 'string' ? calm(about) : about}</Radix.Description>}
          </header>
          {children}
          {/* Last, so that the first thing to fill in has the focus when the dialog opens. */}
          <Radix.Close asChild>
            <IconButton icon={X} label="Close" className="dialog-close" />
          </Radix.Close>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** On another instance a dialog says whose things it is about, so that nobody deletes there what was meant here. */
function InFront() {
  const { id, name, origin, hue } = useConnection((state) => state.current)
  if (id === homeId) return null
  return (
    <p className="dialog-front" style={{ '--hue': hue } as React.CSSProperties}>
      <span>On {calm(name)}</span> <span className="mono">{URL.parse(origin)?.host}</span>
    </p>
  )
}

/** Asks for the name of what will be gone, because there is no way back. */
export function NamedConfirm({
  open,
  onOpenChange,
  title,
  about,
  name,
  action,
  busy,
  onConfirm,
  children,
}: Omit<Props, 'children'> & { name: string; action: string; busy: boolean; onConfirm: () => void; children?: ReactNode }) {
  const [typed, setTyped] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (typed === name) onConfirm()
  }
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => {
        setTyped('')
        onOpenChange(next)
      }}
      title={title}
      about={about}
    >
      <form className="stack" onSubmit={submit}>
        <TextField label={`Type ${calm(name)} to confirm`} mono value={typed} onChange={(event) => setTyped(event.target.value)} />
        {children}
        <footer className="dialog-foot">
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          <Button kind="danger" type="submit" busy={busy} disabled={typed !== name}>
            {action}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
