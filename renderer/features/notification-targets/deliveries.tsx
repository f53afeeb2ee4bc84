import { RotateCw } from 'lucide-react'
import { deliveryStatusLabels } from '../../../server/contract/labels.ts'
import type { NotificationDelivery, NotificationTarget } from '../../../server/contract/notifications.ts'
import { type useNotificationDeliveries, useRedeliverAccountNotification, useRedeliverNotification } from '../../api/notifications.ts'
import { Button } from '../../components/button.tsx'
import { StatusBadge, type StatusBadgeData } from '../../components/status.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import styles from './notification-targets.module.css'

const badges: Record<NotificationDelivery['status'], StatusBadgeData> = {
  pending: { label: deliveryStatusLabels.pending, shape: 'dots', tone: 'idle' },
  delivered: { label: deliveryStatusLabels.delivered, shape: 'disc', tone: 'live' },
  failed: { label: deliveryStatusLabels.failed, shape: 'diamond', tone: 'fail' },
}

interface Props {
  slug: string | null
  targets: NotificationTarget[]
  query: ReturnType<typeof useNotificationDeliveries>
}

/** What was sent, with the result of each attempt. */
export function Deliveries({ slug, targets, query: { data, hasNextPage, fetchNextPage, isFetchingNextPage } }: Props) {
  const deliveries = data?.pages.flatMap((page) => page.deliveries) ?? []
  const options = { successMessage: 'Queued again.' }
  const [ofProject, ofAccount] = [useRedeliverNotification(options), useRedeliverAccountNotification(options)]
  const redeliver = (id: string) => (slug === null ? ofAccount.mutate({ params: { id } }) : ofProject.mutate({ params: { slug, id } }))
  if (targets.length === 0) return null
  return (
    <section className="card" aria-labelledby="deliveries">
      <header className="card-header">
        <h2 id="deliveries">Recent deliveries</h2>
      </header>
      {deliveries.length === 0 && <p className="card-body text-muted">None in the last 30 days.</p>}
      <ul aria-label="Recent deliveries">
        {deliveries.map((delivery) => (
          <li key={delivery.id} className={`card-row ${styles.row}`}>
            <div className={styles.facts}>
              <p className={styles.title}>
                <StatusBadge badge={badges[delivery.status]} />
                <strong className={styles.name}>{sanitizeForDisplay(delivery.title)}</strong>
              </p>
              <p className="text-muted">
                {targets.find(({ id }) => id === delivery.target_id)?.name ?? 'Deleted target'} · <RelativeTime at={delivery.created_at} />
                {describeAttempts(delivery)}
              </p>
            </div>
            {delivery.status !== 'pending' && (
              <Button icon={RotateCw} className={styles.redeliver} onClick={() => redeliver(delivery.id)} aria-label={`Redeliver ${delivery.title}`}>
                Redeliver
              </Button>
            )}
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <div className="card-body">
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
    </section>
  )
}

function describeAttempts({ attempts }: NotificationDelivery): string {
  const last = attempts.at(-1)
  if (!last) return ''
  const count = attempts.length === 1 ? '' : `${attempts.length} attempts · `
  return ` · ${count}${last.error ?? `${last.status ?? 'sent'} in ${last.duration_ms} ms`}`
}
