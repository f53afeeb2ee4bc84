import { BadgeCheck, Ellipsis, Link2, Trash2, UserPlus } from 'lucide-react'
import { useState } from 'react'
import { useForm } from '../../lib/use-form.ts'
import { useSettings, useUpdateSettings } from '../../api/instance.ts'
import { useAddTeamMember } from '../../api/team.ts'
import { useAddUser, useCreateVerificationLink, useRemoveUser, useUsers, useVerifyUser } from '../../api/users.ts'
import { planLabels } from '../../../server/contract/labels.ts'
import type { CallOutput } from '../../../server/client/operation-types.ts'
import { toApiError } from '../../lib/api-error.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { Dialog, ConfirmByNameDialog } from '../../components/dialog.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { SelectField, SwitchField, TextField } from '../../components/field.tsx'
import { Menu, MenuItem } from '../../components/menu.tsx'
import { SecretDialog } from '../../components/secret-dialog.tsx'
import { OneTimeLinkDialog } from '../account/index.ts'
import styles from './page.module.css'

type InstanceUser = CallOutput<'listUsers'>['users'][number]

/** All users of this instance. Each has their own account; a team shares the projects of its owner. */
export function People() {
  const { data, error, isPending, refetch } = useUsers()
  const [adding, setAdding] = useState(false)
  const [sharing, setSharing] = useState<InstanceUser | null>(null)
  const [removing, setRemoving] = useState<InstanceUser | null>(null)
  const verify = useVerifyUser()
  const link = useCreateVerificationLink()
  const remove = useRemoveUser({ onSuccess: () => setRemoving(null) })

  return (
    <section className="card" aria-labelledby="people">
      <header className="card-header">
        <h2 id="people">People</h2>
        <Button icon={UserPlus} onClick={() => setAdding(true)}>
          Add person
        </Button>
      </header>
      {error && (
        <div className="card-body">
          <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
        </div>
      )}
      {isPending && <SkeletonRows rows={2} height={56} />}
      <ul>
        {data?.map((person) => (
          <li key={person.id} className={styles.person}>
            <div>
              <p className="truncate">
                <strong>{person.email}</strong>
              </p>
              <p className="text-subtle">
                {person.is_instance_owner ? 'Instance owner' : `${planLabels[person.account.plan]} plan`}
                {!person.email_verified && ', email not verified'}
              </p>
            </div>
            <Menu trigger={<IconButton icon={Ellipsis} label={`Actions for ${person.email}`} />}>
              <MenuItem icon={UserPlus} onSelect={() => setSharing(person)}>
                Share projects…
              </MenuItem>
              <MenuItem icon={Link2} onSelect={() => link.mutate({ body: { email: person.email } })}>
                Create sign-in link…
              </MenuItem>
              <MenuItem icon={BadgeCheck} disabled={person.email_verified} onSelect={() => verify.mutate({ params: { email: person.email } })}>
                Mark email as verified
              </MenuItem>
              <MenuItem icon={Trash2} danger disabled={person.is_instance_owner} onSelect={() => setRemoving(person)}>
                Remove…
              </MenuItem>
            </Menu>
          </li>
        ))}
      </ul>
      <SignUpPolicy />
      {link.data && <OneTimeLinkDialog title={`Sign-in link for ${link.data.user.email}`} link={link.data} onClose={link.reset} />}
      {adding && <AddPersonDialog onOpenChange={setAdding} />}
      {sharing && <ShareProjectsDialog person={sharing} onOpenChange={() => setSharing(null)} />}
      <ConfirmByNameDialog
        open={removing !== null}
        onOpenChange={() => setRemoving(null)}
        title="Remove this person?"
        description="The account and all its projects are permanently deleted."
        name={removing?.email ?? ''}
        action="Remove person"
        busy={remove.isPending}
        onConfirm={() => removing && remove.mutate({ params: { email: removing.email } })}
      />
    </section>
  )
}

/** Sign-up policy. */
function SignUpPolicy() {
  const settings = useSettings().data
  const change = useUpdateSettings()
  if (!settings) return null
  const choose = (value: string) => {
    if (value === 'off' || value === 'invited' || value === 'open') change.mutate({ body: { sign_up: value } })
  }
  return (
    <div className="card-body">
      <SelectField
        label="New accounts"
        value={settings.sign_up}
        onChange={({ target }) => choose(target.value)}
        hint="New accounts start on Starter with a 14-day Pro trial. Email addresses are verified by a link, sent by email or created here."
      >
        <option value="off">Only people I add</option>
        <option value="invited">By team invitation</option>
        <option value="open">Anyone with a verified email</option>
      </SelectField>
    </div>
  )
}

function AddPersonDialog({ onOpenChange }: { onOpenChange: (open: boolean) => void }) {
  const add = useAddUser({ hidesErrorToast: true })
  const form = useForm({
    initial: { email: '', verified: true },
    submission: add,
    onSubmit: ({ email, verified }) => add.mutate({ body: { email, verified } }),
    fieldOf: ({ code }) => code === 'email_taken' && 'email',
  })
  if (add.data) {
    return (
      <SecretDialog
        title={`${add.data.user.email} added`}
        description="This is their API token. Copy it now: it is not shown again."
        secret={add.data.token}
        kind="token"
        onClose={() => onOpenChange(false)}
      />
    )
  }
  return (
    <Dialog open onOpenChange={onOpenChange} title="Add person" description="They get their own account and API token.">
      <form className="stack" {...form.props}>
        <TextField label="Email" type="email" required {...form.text('email')} />
        <SwitchField label="Mark email as verified" hint="Without it they can view projects but not create any." {...form.toggle('verified')} />
        {form.problem && <ProblemView problem={form.problem} />}
        <footer className="dialog-footer">
          <Button kind="primary" type="submit" busy={form.is_busy}>
            Add person
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

function ShareProjectsDialog({ person, onOpenChange }: { person: InstanceUser; onOpenChange: (open: boolean) => void }) {
  const share = useAddTeamMember({ hidesErrorToast: true, successMessage: 'Projects shared.', onSuccess: () => onOpenChange(false) })
  const form = useForm({
    initial: { member_email: '' },
    submission: share,
    onSubmit: ({ member_email }) => share.mutate({ body: { owner_email: person.email, member_email } }),
    fieldOf: () => 'member_email',
  })
  return (
    <Dialog open onOpenChange={onOpenChange} title={`Share projects of ${person.email}`} description="The other person can see and use all of them.">
      <form className="stack" {...form.props}>
        <TextField label="Email of the other person" type="email" required {...form.text('member_email')} />
        <footer className="dialog-footer">
          <Button kind="primary" type="submit" busy={form.is_busy}>
            Share projects
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
