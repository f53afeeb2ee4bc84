import { type FormEvent, useState } from 'react'
import { useAcceptInvitation, useCreateInvitation } from '../../api/team.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { TextField } from '../../components/field.tsx'
import { formatDate } from '../../lib/format.ts'
import { SecretDialog } from '../../components/secret-dialog.tsx'

export function InviteMemberDialog({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('')
  const invite = useCreateInvitation({ hidesErrorToast: true })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    invite.mutate({ body: { email: email.trim() } })
  }
  if (invite.data) return <OneTimeLinkDialog title={`Invitation for ${invite.data.invitation.email}`} link={invite.data} onClose={onClose} />
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Invite member"
      description="Members can use all your projects: deploy, read logs and change settings. They cannot delete projects, buy domains or invite people."
    >
      <form className="stack" onSubmit={submit}>
        <TextField
          label="Email"
          type="email"
          required
          maxLength={254}
          value={email}
          onChange={({ target }) => setEmail(target.value)}
          error={invite.error?.issueFor('email') ?? (invite.error?.code === 'email_taken' ? invite.error.message : undefined)}
        />
        {invite.error && invite.error.issues.length === 0 && invite.error.code !== 'email_taken' && <ProblemView problem={invite.error} />}
        <footer className="dialog-footer">
          <Button kind="primary" type="submit" busy={invite.isPending}>
            Create invitation
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

/** A link that is shown once. */
export function OneTimeLinkDialog({
  title,
  link: made,
  onClose,
}: {
  title: string
  link: { url: string; expires_at: string; was_sent: boolean }
  onClose: () => void
}) {
  return (
    <SecretDialog
      title={title}
      description={`${made.was_sent ? 'It was also sent by email.' : 'No email was sent: share this link yourself.'} It works once, expires on ${formatDate(made.expires_at)}, and is not shown again.`}
      secret={made.url}
      kind="link"
      onClose={onClose}
    />
  )
}

export function JoinTeamDialog({ onClose }: { onClose: () => void }) {
  const [link, setLink] = useState('')
  const join = useAcceptInvitation({
    hidesErrorToast: true,
    successMessage: 'You joined the team.',
    onSuccess: onClose,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const text = link.trim()
    join.mutate({ body: { code: URL.parse(text)?.searchParams.get('code') ?? text } })
  }
  return (
    <Dialog open onOpenChange={onClose} title="Join a team" description="Paste your invitation link. You join with the account you are signed in to.">
      <form className="stack" onSubmit={submit}>
        <TextField
          label="Invitation link"
          required
          mono
          autoComplete="off"
          value={link}
          onChange={({ target }) => setLink(target.value)}
          error={join.error?.issueFor('code') ?? (join.error && join.error.issues.length === 0 ? join.error.message : undefined)}
        />
        <footer className="dialog-footer">
          <Button kind="primary" type="submit" busy={join.isPending}>
            Join team
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
