import type { ComponentProps } from 'react'
import { useForm } from '../../lib/use-form.ts'
import { useCapabilities } from '../../api/capabilities.ts'
import { useProjects } from '../../api/projects.ts'
import { type ListedToken, useCreateScopedToken, useCreateToken, useRevokeToken } from '../../api/tokens.ts'
import { tokenScopeHints, tokenScopeLabels } from '../../../server/contract/labels.ts'
import { tokenScopes } from '../../../server/contract/token-scopes.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import { formatDate } from '../../lib/format.ts'
import { SecretDialog } from '../../components/secret-dialog.tsx'

type SelectProps = Pick<ComponentProps<typeof SelectField>, 'value' | 'onChange' | 'error'>

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
  const { has_instance_api } = useCapabilities()
  const [createScoped, createUnlimited] = [useCreateScopedToken({ hidesErrorToast: true }), useCreateToken({ hidesErrorToast: true })]
  const create = has_instance_api ? createScoped : createUnlimited
  const form = useForm({
    initial: { name: '', scope: 'deploy', project: '', expires_in_days: '90' },
    submission: create,
    onSubmit({ name, scope, project, expires_in_days: days }) {
      const body = { name: name.trim(), ...(days === '' ? {} : { expires_in_days: Number(days) }) }
      if (!has_instance_api) createUnlimited.mutate({ body })
      else
        createScoped.mutate({
          body: { ...body, scope: tokenScopes.find((one) => one === scope), ...(project === '' ? {} : { project }) },
        })
    },
  })
  if (create.data) {
    const { token, api_token } = create.data
    return (
      <SecretDialog
        title={`Token “${api_token.name}”`}
        description="Copy it now: it is not shown again. Anyone with this token can do what it allows."
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
        {has_instance_api && <TokenLimits form={form} />}
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

function TokenLimits({ form }: { form: { values: { scope: string }; text(name: 'scope' | 'project'): SelectProps } }) {
  const { data } = useProjects()
  const projects = data?.pages.flatMap((page) => page.projects) ?? []
  const scope = tokenScopes.find((one) => one === form.values.scope) ?? 'admin'
  return (
    <>
      <SelectField label="Scope" {...form.text('scope')} hint={tokenScopeHints[scope]}>
        {tokenScopes.map((one) => (
          <option key={one} value={one}>
            {tokenScopeLabels[one]}
          </option>
        ))}
      </SelectField>
      <SelectField label="Project" {...form.text('project')}>
        <option value="">All projects</option>
        {projects.map(({ slug, name }) => (
          <option key={slug} value={slug}>
            {name}
          </option>
        ))}
      </SelectField>
    </>
  )
}

export function RevokeTokenDialog({ token, onClose }: { token: ListedToken; onClose: () => void }) {
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
