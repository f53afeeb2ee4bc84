import { type FormEvent, useState } from 'react'
import type { ApiToken } from '../../../server/contract/tokens.ts'
import { useAction } from '../../api/actions.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ProblemView } from '../../ui/feedback.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { day } from '../../ui/format.ts'
import { SecretDialog } from '../../ui/secret-dialog.tsx'

const longestName = 100
/** In days; the last has no end. */
const lives = [
  { value: '7', text: '7 days' },
  { value: '30', text: '30 days' },
  { value: '90', text: '90 days' },
  { value: '365', text: 'One year' },
  { value: '', text: 'No expiration' },
] as const

export function CreateTokenDialog({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const [name, setName] = useState('')
  const [days, setDays] = useState('90')
  const create = useAction('createToken', { quiet: true, onDone: onMade })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate({ body: { name: name.trim(), ...(days === '' ? {} : { expires_in_days: Number(days) }) } })
  }
  if (create.data) {
    const { token, api_token } = create.data
    return (
      <SecretDialog
        title={`The token “${api_token.name}”`}
        about="It is shown this once: copy it now. Anyone with this token has your full access."
        secret={token}
        kind="token"
        onClose={onClose}
      >
        <p className="quiet">
          A program sends it as <code>Authorization: Bearer svc_…</code>; the command line takes it from <code>HOMEPORT_TOKEN</code>.{' '}
          {api_token.expires_at === null ? 'It does not expire.' : `It expires on ${day(api_token.expires_at)}.`}
        </p>
      </SecretDialog>
    )
  }
  return (
    <Dialog open onOpenChange={onClose} title="Create token" about="One for each program, so that each can be revoked by itself.">
      <form className="stack" onSubmit={submit}>
        <TextField
          label="Name"
          required
          maxLength={longestName}
          placeholder="Deploys from CI"
          value={name}
          onChange={({ target }) => setName(target.value)}
          error={create.error?.issue('name')}
          hint="What it is for. You will know it again by that."
        />
        <SelectField label="Expires in" value={days} onChange={({ target }) => setDays(target.value)}>
          {lives.map(({ value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </SelectField>
        {create.error && create.error.issues.length === 0 && <ProblemView problem={create.error} />}
        <footer className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={create.isPending} disabled={name.trim() === ''}>
            Create
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

export function RevokeTokenDialog({ token, onClose, onRevoked }: { token: ApiToken; onClose: () => void; onRevoked: () => void }) {
  const revoke = useAction('revokeToken', {
    quiet: true,
    done: 'Revoked.',
    onDone() {
      onRevoked()
      onClose()
    },
  })
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Revoke “${token.name}”?`}
      about={`Whoever signs in with ${token.prefix}…${token.last4} is refused from the next request on. There is no way back: a new token takes its place.`}
    >
      {revoke.error && <ProblemView problem={revoke.error} />}
      <footer className="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" busy={revoke.isPending} onClick={() => revoke.mutate({ params: { id: token.id } })}>
          Revoke
        </Button>
      </footer>
    </Dialog>
  )
}
