import { useForm } from '../../lib/use-form.ts'
import { useAcceptInvitation, useCreateInvitation } from '../../api/team.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { TextField } from '../../components/field.tsx'
import { formatDate } from '../../lib/format.ts'
import { SecretDialog } from '../../components/secret-dialog.tsx'

export function InviteMemberDialog({ onClose }: { onClose: () => void }) {
  const invite = useCreateInvitation({ hidesErrorToast: true })
  const form = useForm({
    initial: { email: '' },
    submission: invite,
    onSubmit: ({ email }) => invite.mutate({ body: { email } }),
    fieldOf: ({ code }) => code === 'email_taken' && 'email',
  })
  if (invite.data) return <OneTimeLinkDialog title={`Invitation for ${invite.data.invitation.email}`} link={invite.data} onClose={onClose} />
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Invite member"
      description="Members can use all your projects: deploy, read logs and change settings. They cannot delete projects, buy domains or invite people."
    >
      <form className="stack" {...form.props}>
        <TextField label="Email" type="email" required maxLength={254} {...form.text('email')} />
        {form.problem && <ProblemView problem={form.problem} />}
        <footer className="dialog-footer">
          <Button kind="primary" type="submit" busy={form.is_busy}>
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
  const join = useAcceptInvitation({
    hidesErrorToast: true,
    successMessage: 'You joined the team.',
    onSuccess: onClose,
  })
  const form = useForm({
    initial: { code: '' },
    submission: join,
    onSubmit({ code: link }) {
      const text = link.trim()
      join.mutate({ body: { code: URL.parse(text)?.searchParams.get('code') ?? text } })
    },
    fieldOf: () => 'code',
  })
  return (
    <Dialog open onOpenChange={onClose} title="Join a team" description="Paste your invitation link. You join with the account you are signed in to.">
      <form className="stack" {...form.props}>
        <TextField label="Invitation link" required mono autoComplete="off" {...form.text('code')} />
        <footer className="dialog-footer">
          <Button kind="primary" type="submit" busy={form.is_busy}>
            Join team
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
