import { type FormEvent, useState } from 'react'
import { useDeleteRemote, useUpdateRemote } from '../../api/remotes.ts'
import { type InstanceConnection } from '../../stores/connection.ts'
import { useUi } from '../../stores/ui.ts'
import { Button } from '../../components/button.tsx'
import { Dialog, ConfirmByNameDialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { TextField } from '../../components/field.tsx'
import { hostLabel } from '../../lib/instance-path.ts'
import { HueField, TokenField } from './remote-fields.tsx'
import { useUpdateToken } from './use-update-token.ts'

interface Props {
  connection: InstanceConnection
  onClose: () => void
}

export function EditInstanceDialog({ connection: { id, ...current }, onClose }: Props) {
  const [name, setName] = useState(current.name)
  const [hue, setHue] = useState(current.hue)
  const change = useUpdateRemote({ hidesErrorToast: true, onSuccess: onClose })
  const nameError = change.error?.issueFor('name')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate({ params: { id }, body: { name: name.trim(), hue } })
  }
  return (
    <Dialog open onOpenChange={onClose} title="Name and color" description={`For ${hostLabel(current.origin)}, only in this dashboard.`}>
      <form className="stack" onSubmit={submit}>
        <TextField label="Name" required maxLength={60} value={name} onChange={({ target }) => setName(target.value)} error={nameError} />
        <HueField value={hue} onChange={setHue} />
        {change.error && !nameError && <ProblemView problem={change.error} />}
        <footer className="dialog-footer">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={change.isPending}>
            Save
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

export function ReplaceTokenDialog({ connection, onClose }: Props) {
  const [token, setToken] = useState('')
  const change = useUpdateToken(connection, () => {
    useUi.getState().showToast({ kind: 'done', text: `New token saved for ${connection.name}.`, request_id: null })
    onClose()
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate(token)
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="New token"
      description={`For ${connection.name} at ${hostLabel(connection.origin)}. It is verified before it replaces the current one.`}
    >
      <form className="stack" onSubmit={submit}>
        <TokenField value={token} onChange={setToken} error={change.fieldError} />
        {change.formError && <ProblemView problem={change.formError} />}
        <footer className="dialog-footer">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={change.isPending}>
            Save
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

export function RemoveInstanceDialog({ connection: { id, name, origin }, onClose }: Props) {
  const remove = useDeleteRemote({ hidesErrorToast: true, successMessage: `${name} was removed from this dashboard.`, onSuccess: onClose })
  return (
    <ConfirmByNameDialog
      open
      onOpenChange={onClose}
      title={`Remove ${name}?`}
      description={`Removes ${hostLabel(origin)}, its name, color and token from this dashboard. The instance itself does not change: its projects keep running, and the token works until you revoke it there.`}
      name={name}
      action="Remove instance"
      busy={remove.isPending}
      onConfirm={() => remove.mutate({ params: { id } })}
    >
      {remove.error && <ProblemView problem={remove.error} />}
    </ConfirmByNameDialog>
  )
}
