import { type FormEvent, useState } from 'react'
import { useAction } from '../../api/actions.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ProblemView } from '../../ui/feedback.tsx'
import { TextField } from '../../ui/field.tsx'
import { day } from '../../ui/format.ts'
import { SecretDialog } from '../../ui/secret-dialog.tsx'

export function InviteDialog({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const [email, setEmail] = useState('')
  const invite = useAction('createInvitation', { quiet: true, onDone: onMade })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    invite.mutate({ body: { email: email.trim() } })
  }
  if (invite.data) return <LinkDialog title={`The invitation of ${invite.data.invitation.email}`} made={invite.data} onClose={onClose} />
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Invite somebody"
      about="A member uses all your projects: deploys, reads logs, changes settings. A member deletes none, buys no domains and invites nobody."
    >
      <form className="stack" onSubmit={submit}>
        <TextField
          label="Email"
          type="email"
          required
          maxLength={254}
          value={email}
          onChange={({ target }) => setEmail(target.value)}
          error={invite.error?.issue('email') ?? (invite.error?.code === 'email_taken' ? invite.error.message : undefined)}
        />
        {invite.error && invite.error.issues.length === 0 && invite.error.code !== 'email_taken' && <ProblemView problem={invite.error} />}
        <footer className="dialog-foot">
          <Button kind="primary" type="submit" busy={invite.isPending}>
            Make the invitation
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

/** A link that is shown once. */
export function LinkDialog({
  title,
  made,
  onClose,
}: {
  title: string
  made: { url: string; expires_at: string; was_sent: boolean }
  onClose: () => void
}) {
  return (
    <SecretDialog
      title={title}
      about={`${made.was_sent ? 'It is on its way by e-mail as well.' : 'No e-mail was sent: give them this link.'} It is good once, until ${day(made.expires_at)}, and shown this once.`}
      secret={made.url}
      kind="link"
      onClose={onClose}
    />
  )
}

export function JoinDialog({ onClose, onJoined }: { onClose: () => void; onJoined: () => void }) {
  const [link, setLink] = useState('')
  const join = useAction('acceptInvitation', {
    quiet: true,
    done: 'You are in the team.',
    onDone() {
      onJoined()
      onClose()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const text = link.trim()
    join.mutate({ body: { code: URL.parse(text)?.searchParams.get('code') ?? text } })
  }
  return (
    <Dialog open onOpenChange={onClose} title="Join a team" about="With the link of an invitation, as whom you are signed in now.">
      <form className="stack" onSubmit={submit}>
        <TextField
          label="Link"
          required
          mono
          autoComplete="off"
          value={link}
          onChange={({ target }) => setLink(target.value)}
          error={join.error?.issue('code') ?? (join.error && join.error.issues.length === 0 ? join.error.message : undefined)}
        />
        <footer className="dialog-foot">
          <Button kind="primary" type="submit" busy={join.isPending}>
            Join
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
