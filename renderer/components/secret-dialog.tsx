import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { CopyButton, copyText } from './copy.tsx'
import { Dialog } from './dialog.tsx'

interface Props {
  title: string
  description: string
  secret: string
  /** Kind of secret in the copy button: `token`, `link`, `code`. */
  kind: string
  onClose: () => void
  /** Instructions for the secret, such as a command that contains it. Copying the command counts as copying the secret. */
  children?: ReactNode | ((onCopied: () => void) => ReactNode)
}

/** Shows a secret once. Closing without a copy asks for confirmation. */
export function SecretDialog({ title, description, secret, kind, onClose, children }: Props) {
  const [isCopied, setCopied] = useState(false)
  const [isConfirmingClose, setConfirmingClose] = useState(false)
  const close = () => (isCopied || isConfirmingClose ? onClose() : setConfirmingClose(true))
  const copy = async () => {
    setCopied(await copyText(secret))
    setConfirmingClose(false)
  }
  return (
    <Dialog open onOpenChange={close} title={title} description={description}>
      <div className="stack" onCopy={() => setCopied(true)}>
        <p className="secret">
          <code>{secret}</code>
          <CopyButton text={secret} label={`Copy ${kind}`} onCopied={() => setCopied(true)} />
        </p>
        {typeof children === 'function' ? children(() => setCopied(true)) : children}
      </div>
      <footer className="dialog-footer">
        {isConfirmingClose && !isCopied && (
          <>
            <p className="secret-question" role="alert">
              Close without copying? You won’t see the {kind} again.
            </p>
            <Button onClick={onClose}>Close anyway</Button>
          </>
        )}
        <Button kind="primary" onClick={isConfirmingClose && !isCopied ? () => void copy() : close}>
          {isConfirmingClose && !isCopied ? `Copy ${kind}` : 'Done'}
        </Button>
      </footer>
    </Dialog>
  )
}
