import { DoorOpen, Link2Off, LogOut, UserMinus, UserPlus } from 'lucide-react'
import { useState } from 'react'
import { useInstanceSession } from '../../api/instance.ts'
import { useLeaveTeam, useRemoveMember, useRevokeInvitation, useTeam } from '../../api/team.ts'
import { useSendVerification } from '../../api/users.ts'
import { toApiError } from '../../lib/api-error.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { ConfirmByNameDialog } from '../../components/dialog.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { formatDate } from '../../lib/format.ts'
import { InviteMemberDialog, JoinTeamDialog } from './member-dialogs.tsx'
import styles from './members.module.css'

type PendingRemoval = { kind: 'member'; id: string; email: string } | { kind: 'team'; account_id: string; email: string }

/** Members of the user's team, and the teams that the user belongs to. */
export function Members() {
  const { data, error, refetch } = useTeam()
  const session = useInstanceSession().data
  const [open, setOpen] = useState<'invite' | 'join' | null>(null)
  const [removal, setRemoval] = useState<PendingRemoval | null>(null)
  const closeRemoval = () => setRemoval(null)
  const revoke = useRevokeInvitation({ successMessage: 'Invitation revoked.' })
  const remove = useRemoveMember({ onSuccess: closeRemoval })
  const leave = useLeaveTeam({ onSuccess: closeRemoval })
  const verify = useSendVerification()
  const confirmRemoval = () => {
    if (removal?.kind === 'member') remove.mutate({ params: { id: removal.id } })
    if (removal?.kind === 'team') leave.mutate({ body: { account_id: removal.account_id } })
  }

  return (
    <section className="card" aria-labelledby="members">
      <header className={`card-header ${styles.memberHead}`}>
        <h2 id="members">Members</h2>
        <span className="row">
          <Button icon={DoorOpen} onClick={() => setOpen('join')}>
            Join a team
          </Button>
          <Button icon={UserPlus} onClick={() => setOpen('invite')}>
            Invite member
          </Button>
        </span>
      </header>
      {session && !session.user.email_verified && (
        <div className={`card-body ${styles.memberNote}`} role="status">
          <p>
            <strong>Your email address is not verified.</strong>{' '}
            {verify.data?.message ?? 'Until you verify it, you cannot create projects or invite people.'}
          </p>
          <Button busy={verify.isPending} onClick={() => verify.mutate({})}>
            Send verification link
          </Button>
        </div>
      )}
      {error && (
        <div className="card-body">
          <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
        </div>
      )}
      {!data && !error && <SkeletonRows rows={2} height={56} />}
      {data && (
        <ul aria-label="Members">
          {data.members.map(({ user_id, email, role, created_at }) => (
            <li key={user_id} className={`card-row ${styles.memberRow}`}>
              <p className="truncate" title={email}>
                <strong>{email}</strong>
              </p>
              <p className="text-muted">{role === 'owner' ? 'Owner' : `Member since ${formatDate(created_at)}`}</p>
              {role === 'member' && (
                <IconButton
                  icon={UserMinus}
                  label={`Remove ${email} from the team…`}
                  onClick={() => setRemoval({ kind: 'member', id: user_id, email })}
                />
              )}
            </li>
          ))}
          {data.invitations.map(({ id, email, expires_at }) => (
            <li key={id} className={`card-row ${styles.memberRow}`}>
              <p className="truncate" title={email}>
                {email}
              </p>
              <p className="text-muted">Invited; expires {formatDate(expires_at)}</p>
              <IconButton icon={Link2Off} label={`Revoke the invitation for ${email}`} onClick={() => revoke.mutate({ params: { id } })} />
            </li>
          ))}
        </ul>
      )}
      {data && data.teams.length > 0 && (
        <>
          <h3 className={styles.memberOthers}>Teams you belong to</h3>
          <ul aria-label="Teams you belong to">
            {data.teams.map(({ account_id, owner_email, created_at }) => (
              <li key={account_id} className={`card-row ${styles.memberRow}`}>
                <p className="truncate" title={owner_email}>
                  <strong>{owner_email}</strong>
                </p>
                <p className="text-muted">Member since {formatDate(created_at)}</p>
                <IconButton
                  icon={LogOut}
                  label={`Leave the team of ${owner_email}…`}
                  onClick={() => setRemoval({ kind: 'team', account_id, email: owner_email })}
                />
              </li>
            ))}
          </ul>
        </>
      )}
      {open === 'invite' && <InviteMemberDialog onClose={() => setOpen(null)} />}
      {open === 'join' && <JoinTeamDialog onClose={() => setOpen(null)} />}
      <ConfirmByNameDialog
        open={removal !== null}
        onOpenChange={closeRemoval}
        title={removal?.kind === 'team' ? 'Leave this team?' : 'Remove this member?'}
        description={
          removal?.kind === 'team'
            ? 'You lose access to its projects. You need a new invitation to rejoin.'
            : 'They lose access to your projects. Their deployments stay.'
        }
        name={removal?.email ?? ''}
        action={removal?.kind === 'team' ? 'Leave team' : 'Remove member'}
        busy={remove.isPending || leave.isPending}
        onConfirm={confirmRemoval}
      />
    </section>
  )
}
