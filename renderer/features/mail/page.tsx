import { Mail, Paperclip } from 'lucide-react'
import { useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import type { MailCatcherStatus, MailMessage } from '../../../server/contract/mail.ts'
import { useDeleteMailMessages, useMail, useUpdateMail } from '../../api/mail.ts'
import { useProject } from '../../api/projects.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { SwitchField } from '../../components/field.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { toApiError } from '../../lib/api-error.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { useTitle } from '../../lib/use-title.ts'
import { DeploymentStatusCard, redeployMessages } from '../deployments/index.ts'
import styles from './mail.module.css'
import { MessageView } from './message-view.tsx'

/** The email that the apps of a project send, which is stored instead of sent. */
export default function MailPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  useTitle(`Mail · ${project?.name ?? slug}`)
  const [params, setParams] = useSearchParams()
  const message = params.get('message')
  const { data, error, refetch } = useMail(slug)
  const [startedId, setStartedId] = useState<string | null>(null)
  if (error && !data) return <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
  if (data === undefined) return <SkeletonRows rows={4} height={64} />
  if (data === null)
    return (
      <div className="card">
        <EmptyState icon={Mail} title="No mail catcher">
          This account has none. Homeport on your own machine has one.
        </EmptyState>
      </div>
    )
  if (message !== null) return <MessageView key={message} slug={slug} id={message} onDeleted={() => setParams({}, { replace: true })} />
  return (
    <div className="stack">
      {startedId !== null && (
        <DeploymentStatusCard
          slug={slug}
          id={startedId}
          onDismiss={() => setStartedId(null)}
          messages={redeployMessages('the changed SMTP variables')}
        />
      )}
      <CatcherCard slug={slug} catcher={data.catcher} onDeployed={setStartedId} />
      <Messages slug={slug} messages={data.messages} isEnabled={data.catcher.is_enabled} />
    </div>
  )
}

function CatcherCard({ slug, catcher, onDeployed }: { slug: string; catcher: MailCatcherStatus; onDeployed: (id: string | null) => void }) {
  const update = useUpdateMail({ onSuccess: ({ deployment_id }) => onDeployed(deployment_id) })
  return (
    <section className="card" aria-labelledby="mail-catcher">
      <header className="card-header">
        <h2 id="mail-catcher">Mail catcher</h2>
        <HelpLink topic="managed-services">How it works</HelpLink>
      </header>
      <div className="card-body stack">
        <SwitchField
          label="Catch mail"
          hint="Apps get SMTP_URL and its parts. What they send is stored here and never delivered. Changing this redeploys the project."
          checked={catcher.is_enabled}
          disabled={update.isPending}
          onChange={(is_enabled) => update.mutate({ params: { slug }, body: { is_enabled } })}
        />
        {catcher.unavailable !== null && (
          <p className="text-muted" role="alert">
            {catcher.unavailable}
          </p>
        )}
        {catcher.port !== null && (
          <p className="text-subtle">
            Listens on{' '}
            <code>
              {catcher.host}:{catcher.port}
            </code>
            , user <code>{catcher.user}</code>. The password is in <code>SMTP_PASSWORD</code> of the apps.
          </p>
        )}
      </div>
    </section>
  )
}

function Messages({ slug, messages, isEnabled }: { slug: string; messages: MailMessage[]; isEnabled: boolean }) {
  const [isClearing, setClearing] = useState(false)
  return (
    <section className="card" aria-labelledby="messages">
      <header className="card-header">
        <h2 id="messages">Messages</h2>
        {messages.length > 0 && <Button onClick={() => setClearing(true)}>Delete all…</Button>}
      </header>
      {messages.length === 0 ? (
        <EmptyState icon={Mail} title="No messages yet">
          {isEnabled ? 'A message appears here as soon as an app sends it.' : 'Turn on the mail catcher to see what apps send.'}
        </EmptyState>
      ) : (
        <ul data-rows aria-live="polite" aria-relevant="additions">
          {messages.map((one) => (
            <li key={one.id} className={`card-row ${styles.message}`}>
              <span className={styles.subject}>
                <Link href={`/projects/${slug}/mail?message=${one.id}`} className="truncate">
                  {sanitizeForDisplay(one.subject) || 'No subject'}
                </Link>
                {one.attachments > 0 && (
                  <Paperclip size={14} role="img" aria-label={one.attachments === 1 ? '1 attachment' : `${one.attachments} attachments`} />
                )}
              </span>
              <span className={`truncate text-muted ${styles.people}`}>
                {sanitizeForDisplay(one.from) || 'No sender'} → {sanitizeForDisplay(one.to.join(', '))}
              </span>
              <span className={`text-subtle ${styles.received}`}>
                <RelativeTime at={one.received_at} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {isClearing && <ClearDialog slug={slug} count={messages.length} onClose={() => setClearing(false)} />}
    </section>
  )
}

function ClearDialog({ slug, count, onClose }: { slug: string; count: number; onClose: () => void }) {
  const clear = useDeleteMailMessages({ successMessage: 'Deleted all messages.', onSuccess: onClose })
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Delete all messages?"
      description={`${count === 1 ? 'The message is' : `All ${count} messages are`} deleted. This cannot be undone.`}
    >
      <footer className="dialog-footer">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" busy={clear.isPending} onClick={() => clear.mutate({ params: { slug } })}>
          Delete all
        </Button>
      </footer>
    </Dialog>
  )
}
