import { Bell } from 'lucide-react'
import { ApiError } from '../../../server/client/api-error.ts'
import { useCapabilities } from '../../api/capabilities.ts'
import { useNotificationDeliveries, useNotificationTargets } from '../../api/notifications.ts'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { toApiError } from '../../lib/api-error.ts'
import { BrowserNotifications } from './browser-section.tsx'
import { Deliveries } from './deliveries.tsx'
import { Targets } from './targets.tsx'

/** `slug`: null for the targets of the account. */
export function NotificationSections({ slug }: { slug: string | null }) {
  const { is_known, has_instance_api } = useCapabilities()
  const { data, error, refetch } = useNotificationTargets(slug)
  const deliveries = useNotificationDeliveries(slug)
  const isUnsupported = (is_known && !has_instance_api) || (error instanceof ApiError && error.code === 'route_not_found')
  if (isUnsupported)
    return (
      <div className="card">
        <EmptyState icon={Bell} title="No notification targets">
          This instance does not send notifications. A newer Homeport on your own machine does.
        </EmptyState>
      </div>
    )
  if (error) return <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
  if (!data || deliveries.isPending) return <SkeletonRows rows={4} height={72} />
  return (
    <>
      <Targets slug={slug} targets={data.targets} canSendEmail={data.can_send_email} />
      <BrowserNotifications />
      <Deliveries slug={slug} targets={data.targets} query={deliveries} />
    </>
  )
}
