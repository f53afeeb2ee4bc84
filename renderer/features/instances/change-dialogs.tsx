import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type ApiProblem, problemFrom } from '../../api/problem.ts'
import { dropRemote, putRemote } from '../../api/remotes.ts'
import { type Connection, home } from '../../stores/connection.ts'
import { useUi } from '../../stores/ui.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, NamedConfirm } from '../../ui/dialog.tsx'
import { ProblemView } from '../../ui/feedback.tsx'
import { TextField } from '../../ui/field.tsx'
import { hostOf } from './host.ts'
import { HueField, TokenField } from './remote-fields.tsx'
import { useTokenChange } from './use-token-change.ts'

interface Props {
  connection: Connection
  onClose: () => void
}

const raise = (error: unknown) => {
  throw problemFrom(error)
}

export function EditDialog({ connection: { id, ...before }, onClose }: Props) {
  const [name, setName] = useState(before.name)
  const [hue, setHue] = useState(before.hue)
  const change = useMutation<void, ApiProblem>({
    mutationFn: () =>
      home.client.call('updateRemote', { params: { id }, body: { name: name.trim(), hue } }).then(({ remote }) => putRemote(remote), raise),
    onSuccess: onClose,
  })
  const atName = change.error?.issue('name')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate()
  }
  return (
    <Dialog open onOpenChange={onClose} title="Name and colour" about={`Of ${hostOf(before.origin)}, on this dashboard alone.`}>
      <form className="stack" onSubmit={submit}>
        <TextField label="Name" required maxLength={60} value={name} onChange={({ target }) => setName(target.value)} error={atName} />
        <HueField value={hue} onChange={setHue} />
        {change.error && !atName && <ProblemView problem={change.error} />}
        <footer className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={change.isPending}>
            Save
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

export function TokenDialog({ connection, onClose }: Props) {
  const [token, setToken] = useState('')
  const change = useTokenChange(connection, () => {
    useUi.getState().showToast({ kind: 'done', text: `${connection.name} takes the new token.`, request_id: null })
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
      title="A new token"
      about={`For ${connection.name} at ${hostOf(connection.origin)}. It is tried there before it takes the place of the old one.`}
    >
      <form className="stack" onSubmit={submit}>
        <TokenField value={token} onChange={setToken} error={change.fieldError} />
        {change.plate && <ProblemView problem={change.plate} />}
        <footer className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={change.isPending}>
            Save
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

export function RemoveDialog({ connection: { id, name, origin }, onClose }: Props) {
  const remove = useMutation<void, ApiProblem>({
    mutationFn: () => home.client.call('deleteRemote', { params: { id } }).then(() => dropRemote(id), raise),
    onSuccess() {
      useUi.getState().showToast({ kind: 'done', text: `${name} is removed from this dashboard.`, request_id: null })
      onClose()
    },
  })
  return (
    <NamedConfirm
      open
      onOpenChange={onClose}
      title={`Remove ${name}?`}
      about={`This dashboard forgets the address ${hostOf(origin)}, its name, its colour and its token. Nothing changes there: its projects run on, and the token works until it is revoked there.`}
      name={name}
      action="Remove it"
      busy={remove.isPending}
      onConfirm={() => remove.mutate()}
    >
      {remove.error && <ProblemView problem={remove.error} />}
    </NamedConfirm>
  )
}
