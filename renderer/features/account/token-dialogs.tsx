import { useForm } from '../../lib/use-form.ts'
import { useCreateToken, useRevokeToken } from '../../api/tokens.ts'
import type { ApiToken } from '../../../server/contract/tokens.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import { formatDate } from '../../lib/format.ts'
import { SecretDialog } from '../../components/secret-dialog.tsx'

const maxNameLength = 100
/** Values in days; the empty value means no expiration. */
const lifetimes = [
  { value: '7', text: '7 days' },
  { value: '30', text: '30 days' },
  { value: '90', text: '90 days' },
  { value: '365', text: 'One year' },
  { value: '', text: 'No expiration' },
] as const

export function CreateTokenDialog({ onClose }: { onClose: () => void }) {
  const create = useCreateToken({ hidesErrorToast: true })
  const form = useForm({
    initial: { name: '', expires_in_days: '90' },
    submission: create,
    onSubmit: ({ name, expires_in_days: days }) =>
      create.mutate({ body: { name: name.trim(), ...(days === '' ? {} : { expires_in_days: Number(days) }) } }),
  })
  if (create.data) {
    const { token, api_token } = create.data
    return (
      <SecretDialog
        title={`Token “${api_token.name}”`}
        description="Copy it now: it is not shown again. Anyone with this token has your full access."
        secret={token}
        kind="token"
        onClose={onClose}
      >
        <p className="text-muted">
          Send it as <code>Authorization: Bearer svc_…</code>; the command line reads it from <code>HOMEPORT_TOKEN</code>.{' '}
          {api_token.expires_at === null ? 'It does not expire.' : `It expires on ${formatDate(api_token.expires_at)}.`}
        </p>
      </SecretDialog>
    )
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Create token"
      description="Create one token per program, so that you can revoke each one individually."
    >
      <form className="stack" {...form.props}>
        <TextField
          label="Name"
          required
          maxLength={maxNameLength}
          placeholder="Deploys from CI"
          {...form.text('name')}
          hint="Describe what uses this token."
        />
        <SelectField label="Expires in" {...form.text('expires_in_days')}>
          {lifetimes.map(({ value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </SelectField>
        {form.problem && <ProblemView problem={form.problem} />}
        <footer className="dialog-footer">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={form.is_busy} disabled={form.values.name.trim() === ''}>
            Create token
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

export function RevokeTokenDialog({ token, onClose }: { token: ApiToken; onClose: () => void }) {
  const revoke = useRevokeToken({
    hidesErrorToast: true,
    successMessage: 'Token revoked.',
    onSuccess: onClose,
  })
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Revoke “${token.name}”?`}
      description={`Requests with ${token.prefix}…${token.last4} are rejected immediately. This cannot be undone: create a new token to replace it.`}
    >
      {revoke.error && <ProblemView problem={revoke.error} />}
      <footer className="dialog-footer">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" busy={revoke.isPending} onClick={() => revoke.mutate({ params: { id: token.id } })}>
          Revoke token
        </Button>
      </footer>
    </Dialog>
  )
}
