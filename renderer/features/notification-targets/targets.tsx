import { BellRing, Pencil, Plus, Send, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { notificationTargetLabels } from '../../../server/contract/labels.ts'
import type { NotificationTarget } from '../../../server/contract/notifications.ts'
import {
  useDeleteAccountNotificationTarget,
  useDeleteNotificationTarget,
  useTestAccountNotificationTarget,
  useTestNotificationTarget,
} from '../../api/notifications.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { EmptyState } from '../../components/feedback.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { describeRules } from './describe-rules.ts'
import { TargetDialog } from './target-dialog.tsx'
import styles from './notification-targets.module.css'

type OpenDialog = { name: 'add' } | { name: 'edit' | 'delete'; target: NotificationTarget }

interface Props {
  slug: string | null
  targets: NotificationTarget[]
  canSendEmail: boolean
}

/** The targets with their rules. */
export function Targets({ slug, targets, canSendEmail }: Props) {
  const [open, setOpen] = useState<OpenDialog | null>(null)
  const close = () => setOpen(null)
  const add = (
    <Button kind={targets.length === 0 ? 'primary' : 'plain'} icon={Plus} onClick={() => setOpen({ name: 'add' })}>
      Add target
    </Button>
  )
  return (
    <section className="card" aria-labelledby="notification-targets">
      <header className="card-header">
        <h2 id="notification-targets">Targets</h2>
        {targets.length > 0 && add}
      </header>
      {targets.length === 0 ? (
        <EmptyState icon={BellRing} title="No targets yet" action={add}>
          Homeport sends an email, calls a signed webhook or writes to Slack when a deployment fails or an app crashes.{' '}
          <HelpLink topic="notifications">How it works</HelpLink>
        </EmptyState>
      ) : (
        <ul aria-label="Targets">
          {targets.map((target) => (
            <TargetRow
              key={target.id}
              slug={slug}
              target={target}
              isUndeliverable={target.type === 'email' && !canSendEmail}
              onEdit={() => setOpen({ name: 'edit', target })}
              onDelete={() => setOpen({ name: 'delete', target })}
            />
          ))}
        </ul>
      )}
      {open?.name === 'add' && <TargetDialog slug={slug} target={null} canSendEmail={canSendEmail} onClose={close} />}
      {open?.name === 'edit' && <TargetDialog slug={slug} target={open.target} canSendEmail={canSendEmail} onClose={close} />}
      {open?.name === 'delete' && <DeleteTargetDialog slug={slug} target={open.target} onClose={close} />}
    </section>
  )
}

function TargetRow({
  slug,
  target,
  isUndeliverable,
  onEdit,
  onDelete,
}: {
  slug: string | null
  target: NotificationTarget
  isUndeliverable: boolean
  onEdit: () => void
  onDelete: () => void
}) {
  const { id, name, type, address, rules, projects, is_enabled } = target
  const ofProject = useTestNotificationTarget({ successMessage: 'Test notification queued.' })
  const ofAccount = useTestAccountNotificationTarget({ successMessage: 'Test notification queued.' })
  const sendTest = () => (slug === null ? ofAccount.mutate({ params: { id } }) : ofProject.mutate({ params: { slug, id } }))
  return (
    <li className={`card-row ${styles.row}`}>
      <div className={styles.facts}>
        <p className={styles.title}>
          <strong className={styles.name}>{name}</strong>
          <span className="badge tone-idle">{notificationTargetLabels[type]}</span>
          {isUndeliverable && <span className="badge tone-busy">No mail server</span>}
          {!is_enabled && <span className="badge tone-busy">Off</span>}
        </p>
        {name !== address && <p className={`text-muted ${styles.name}`}>{address}</p>}
        <p className="text-muted">
          {describeRules(rules)}
          {projects && ` · ${projects.join(', ')}`}
        </p>
        {isUndeliverable && (
          <p className="text-muted">
            No email is sent, because this instance has no mail server. Set <code>HOMEPORT_SMTP_URL</code> and restart Homeport.
          </p>
        )}
      </div>
      <span className={styles.actions}>
        <Button icon={Send} busy={ofProject.isPending || ofAccount.isPending} onClick={sendTest} aria-label={`Send test to ${name}`}>
          Send test
        </Button>
        <IconButton icon={Pencil} label={`Edit ${name}`} onClick={onEdit} />
        <IconButton icon={Trash2} label={`Delete ${name}`} onClick={onDelete} />
      </span>
    </li>
  )
}

function DeleteTargetDialog({ slug, target: { id, name }, onClose }: { slug: string | null; target: NotificationTarget; onClose: () => void }) {
  const options = { successMessage: 'Target deleted.', onSuccess: onClose }
  const [ofProject, ofAccount] = [useDeleteNotificationTarget(options), useDeleteAccountNotificationTarget(options)]
  return (
    <Dialog open onOpenChange={onClose} title={`Delete “${name}”?`} description="It gets no more notifications, and its recent ones are deleted.">
      <footer className="dialog-footer">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind="danger"
          busy={ofProject.isPending || ofAccount.isPending}
          onClick={() => (slug === null ? ofAccount.mutate({ params: { id } }) : ofProject.mutate({ params: { slug, id } }))}
        >
          Delete target
        </Button>
      </footer>
    </Dialog>
  )
}
