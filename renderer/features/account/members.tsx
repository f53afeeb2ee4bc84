import { useQueryClient } from '@tanstack/react-query'
import { DoorOpen, Link2Off, LogOut, UserMinus, UserPlus } from 'lucide-react'
import { useState } from 'react'
import { useAction } from '../../api/actions.ts'
import { keys } from '../../api/keys.ts'
import { problemFrom } from '../../api/problem.ts'
import { useInstance } from '../../api/queries.ts'
import { useTeam } from '../../api/team.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { NamedConfirm } from '../../ui/dialog.tsx'
import { ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { day } from '../../ui/format.ts'
import { InviteDialog, JoinDialog } from './member-dialogs.tsx'
import './members.css'

type Leaving = { kind: 'member'; id: string; email: string } | { kind: 'team'; account_id: string; email: string }

/** Who uses my projects beside me, and whose I use. */
export function Members() {
  const { data, error, refetch } = useTeam()
  const session = useInstance().data
  const cache = useQueryClient()
  const [open, setOpen] = useState<'invite' | 'join' | null>(null)
  const [leaving, setLeaving] = useState<Leaving | null>(null)
  const again = () => {
    setLeaving(null)
    void cache.invalidateQueries({ queryKey: keys.team })
  }
  const revoke = useAction('revokeInvitation', { done: 'The link no longer works.', onDone: again })
  const remove = useAction('removeMember', { onDone: again })
  const leave = useAction('leaveTeam', {
    onDone() {
      again()
      void cache.invalidateQueries({ queryKey: keys.projects })
    },
  })
  const verify = useAction('sendVerification')
  const goOn = () => {
    if (leaving?.kind === 'member') remove.mutate({ params: { id: leaving.id } })
    if (leaving?.kind === 'team') leave.mutate({ body: { account_id: leaving.account_id } })
  }

  return (
    <section className="card" aria-labelledby="members">
      <header className="card-head member-head">
        <h2 id="members">Members</h2>
        <span className="row">
          <Button icon={DoorOpen} onClick={() => setOpen('join')}>
            Join a team
          </Button>
          <Button icon={UserPlus} onClick={() => setOpen('invite')}>
            Invite somebody
          </Button>
        </span>
      </header>
      {session && !session.user.email_verified && (
        <div className="card-body member-note" role="status">
          <p>
            <strong>Your address is not verified.</strong>{' '}
            {verify.data?.message ?? 'Until it is you make no projects of your own, and invite nobody.'}
          </p>
          <Button busy={verify.isPending} onClick={() => verify.mutate({})}>
            Send me the link
          </Button>
        </div>
      )}
      {error && (
        <div className="card-body">
          <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />
        </div>
      )}
      {!data && !error && <SkeletonRows rows={2} height={56} />}
      {data && (
        <ul aria-label="Members">
          {data.members.map(({ user_id, email, role, created_at }) => (
            <li key={user_id} className="card-row member-row">
              <p className="clip" title={email}>
                <strong>{email}</strong>
              </p>
              <p className="quiet">{role === 'owner' ? 'Owner' : `Member since ${day(created_at)}`}</p>
              {role === 'member' && (
                <IconButton
                  icon={UserMinus}
                  label={`Take ${email} out of the team…`}
                  onClick={() => setLeaving({ kind: 'member', id: user_id, email })}
                />
              )}
            </li>
          ))}
          {data.invitations.map(({ id, email, expires_at }) => (
            <li key={id} className="card-row member-row">
              <p className="clip" title={email}>
                {email}
              </p>
              <p className="quiet">Invited, until {day(expires_at)}</p>
              <IconButton icon={Link2Off} label={`Take the invitation of ${email} back`} onClick={() => revoke.mutate({ params: { id } })} />
            </li>
          ))}
        </ul>
      )}
      {data && data.teams.length > 0 && (
        <>
          <h3 className="member-others">Teams of others</h3>
          <ul aria-label="Teams of others">
            {data.teams.map(({ account_id, owner_email, created_at }) => (
              <li key={account_id} className="card-row member-row">
                <p className="clip" title={owner_email}>
                  <strong>{owner_email}</strong>
                </p>
                <p className="quiet">You are a member since {day(created_at)}</p>
                <IconButton
                  icon={LogOut}
                  label={`Leave the team of ${owner_email}…`}
                  onClick={() => setLeaving({ kind: 'team', account_id, email: owner_email })}
                />
              </li>
            ))}
          </ul>
        </>
      )}
      {open === 'invite' && <InviteDialog onClose={() => setOpen(null)} onMade={again} />}
      {open === 'join' && (
        <JoinDialog
          onClose={() => setOpen(null)}
          onJoined={() => {
            again()
            void cache.invalidateQueries({ queryKey: keys.projects })
          }}
        />
      )}
      <NamedConfirm
        open={leaving !== null}
        onOpenChange={() => setLeaving(null)}
        title={leaving?.kind === 'team' ? 'Leave this team?' : 'Take this person out of the team?'}
        about={
          leaving?.kind === 'team'
            ? 'You no longer see its projects. To come back takes a new invitation.'
            : 'They no longer see your projects. What they deployed stays.'
        }
        name={leaving?.email ?? ''}
        action={leaving?.kind === 'team' ? 'Leave' : 'Take out'}
        busy={remove.isPending || leave.isPending}
        onConfirm={goOn}
      />
    </section>
  )
}
