import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { CopyButton } from './copy.tsx'
import { Dialog } from './dialog.tsx'

interface Props {
  title: string
  about: string
  secret: string
  /** What it is, for the button that copies it: `token`, `link`, `code`. */
  kind: string
  onClose: () => void
  /** What one does with it. */
  children?: ReactNode
}

/** Shows a secret to copy; when it is closed it is out of sight for good, or until it is asked for again. */
export function SecretDialog({ title, about, secret, kind, onClose, children }: Props) {
  return (
    <Dialog open onOpenChange={onClose} title={title} about={about}>
      <p className="secret">
        <code>{secret}</code>
        <CopyButton text={secret} label={`Copy the ${kind}`} />
      </p>
      {children}
      <footer className="dialog-foot">
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </footer>
    </Dialog>
  )
}
