import { useQueryClient } from '@tanstack/react-query'
import { BadgeCheck, Ellipsis, Link2, Trash2, UserPlus } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useAction } from '../../api/actions.ts'
import type { Answer } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { problemFrom } from '../../api/problem.ts'
import { useSettings, useUsers } from '../../api/queries.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog, NamedConfirm } from '../../ui/dialog.tsx'
import { ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { SelectField, SwitchField, TextField } from '../../ui/field.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { LinkDialog } from '../account/member-dialogs.tsx'
import { useChangeSettings } from './change-settings.ts'

type Person = Answer<'listUsers'>['users'][number]

/** Everybody on this instance. Each has an account of their own; a team shares the projects of its owner. */
export function People() {
  const { data, error, isPending, refetch } = useUsers()
  const cache = useQueryClient()
  const again = () => void cache.invalidateQueries({ queryKey: keys.users })
  const [adding, setAdding] = useState(false)
  const [sharing, setSharing] = useState<Person | null>(null)
  const [removing, setRemoving] = useState<Person | null>(null)
  const verify = useAction('verifyUser', { onDone: again })
  const link = useAction('createVerificationLink', { onDone: again })
  const remove = useAction('removeUser', {
    onDone() {
      setRemoving(null)
      again()
    },
  })

  return (
    <section className="card" aria-labelledby="people">
      <header className="card-head">
        <h2 id="people">People</h2>
        <Button icon={UserPlus} onClick={() => setAdding(true)}>
          Add a person
        </Button>
      </header>
      {error && (
        <div className="card-body">
          <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />
        </div>
      )}
      {isPending && <SkeletonRows rows={2} height={56} />}
      <ul>
        {data?.map((person) => (
          <li key={person.id} className="person">
            <div>
              <p className="clip">
                <strong>{person.email}</strong>
              </p>
              <p className="faint">
                {person.is_instance_owner ? 'Owner of this instance' : `Plan ${person.account.plan}`}
                {!person.email_verified && ', email not verified'}
              </p>
            </div>
            <Menu trigger={<IconButton icon={Ellipsis} label={`What to do with ${person.email}`} />}>
              <MenuItem icon={UserPlus} onSelect={() => setSharing(person)}>
                Share their projects…
              </MenuItem>
              <MenuItem icon={Link2} onSelect={() => link.mutate({ body: { email: person.email } })}>
                Make a link to come in…
              </MenuItem>
              <MenuItem icon={BadgeCheck} disabled={person.email_verified} onSelect={() => verify.mutate({ params: { email: person.email } })}>
                Count the email as verified
              </MenuItem>
              <MenuItem icon={Trash2} danger disabled={person.is_instance_owner} onSelect={() => setRemoving(person)}>
                Remove…
              </MenuItem>
            </Menu>
          </li>
        ))}
      </ul>
      <SignUp />
      {link.data && <LinkDialog title={`A link for ${link.data.user.email}`} made={link.data} onClose={link.reset} />}
      {adding && <AddPerson onOpenChange={setAdding} onAdded={again} />}
      {sharing && <Share person={sharing} onOpenChange={() => setSharing(null)} />}
      <NamedConfirm
        open={removing !== null}
        onOpenChange={() => setRemoving(null)}
        title="Remove this person?"
        about="The account and all its projects are deleted for good."
        name={removing?.email ?? ''}
        action="Remove"
        busy={remove.isPending}
        onConfirm={() => removing && remove.mutate({ params: { email: removing.email } })}
      />
    </section>
  )
}

/** Who may come in without the owner's doing. */
function SignUp() {
  const settings = useSettings().data
  const change = useChangeSettings()
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
        hint="Everybody new begins on starter, with 14 days of pro. An address is proved by a link: by e-mail, or made here."
      >
        <option value="off">Nobody new but by me</option>
        <option value="invited">By invitation to a team</option>
        <option value="open">Whoever proves an address</option>
      </SelectField>
    </div>
  )
}

function AddPerson({ onOpenChange, onAdded }: { onOpenChange: (open: boolean) => void; onAdded: () => void }) {
  const [email, setEmail] = useState('')
  const [verified, setVerified] = useState(true)
  const add = useAction('addUser', { quiet: true, onDone: onAdded })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate({ body: { email: email.trim(), verified } })
  }
  if (add.data) {
    return (
      <SecretDialog
        title={`${add.data.user.email} is added`}
        about="This token signs them in at the API. It is shown this once: copy it now."
        secret={add.data.token}
        kind="token"
        onClose={() => onOpenChange(false)}
      />
    )
  }
  return (
    <Dialog open onOpenChange={onOpenChange} title="Add a person" about="They get an account and a token of their own.">
      <form className="stack" onSubmit={submit}>
        <TextField
          label="Email"
          type="email"
          required
          value={email}
          onChange={({ target }) => setEmail(target.value)}
          error={add.error?.issue('email') ?? (add.error?.code === 'email_taken' ? add.error.message : undefined)}
        />
        <SwitchField
          label="Count the email as verified"
          hint="Without it they may look, but not create projects."
          checked={verified}
          onChange={setVerified}
        />
        {add.error && add.error.issues.length === 0 && add.error.code !== 'email_taken' && <ProblemView problem={add.error} />}
        <footer className="dialog-foot">
          <Button kind="primary" type="submit" busy={add.isPending}>
            Add
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

function Share({ person, onOpenChange }: { person: Person; onOpenChange: (open: boolean) => void }) {
  const [email, setEmail] = useState('')
  const share = useAction('addTeamMember', { quiet: true, done: 'Shared.', onDone: () => onOpenChange(false) })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    share.mutate({ body: { owner_email: person.email, member_email: email.trim() } })
  }
  return (
    <Dialog open onOpenChange={onOpenChange} title={`Share the projects of ${person.email}`} about="Whom you name sees and uses all of them.">
      <form className="stack" onSubmit={submit}>
        <TextField
          label="Email of the other person"
          type="email"
          required
          value={email}
          onChange={({ target }) => setEmail(target.value)}
          error={share.error?.message}
        />
        <footer className="dialog-foot">
          <Button kind="primary" type="submit" busy={share.isPending}>
            Share
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
