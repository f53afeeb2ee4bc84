import type { BillingStatus } from '../../../server/contract/billing.ts'
import type { StatusBadgeData } from '../../components/status.tsx'

const subscriptionBadges: Record<string, StatusBadgeData> = {
  active: { label: 'Active', shape: 'disc', tone: 'live' },
  trialing: { label: 'Trial', shape: 'disc', tone: 'live' },
  past_due: { label: 'Past due', shape: 'diamond', tone: 'fail' },
  unpaid: { label: 'Unpaid', shape: 'diamond', tone: 'fail' },
  incomplete: { label: 'Payment incomplete', shape: 'ring', tone: 'busy' },
  incomplete_expired: { label: 'Payment expired', shape: 'dash', tone: 'idle' },
  paused: { label: 'Paused', shape: 'square', tone: 'idle' },
  canceled: { label: 'Canceled', shape: 'dash', tone: 'idle' },
}

/** Badge of the subscription status of the payment processor. An unknown status is shown unchanged. */
export function subscriptionBadge({ subscription_status: status, cancel_at }: BillingStatus): StatusBadgeData | null {
  if (status === null) return null
  if (cancel_at !== null && (status === 'active' || status === 'trialing')) return { label: 'Ends after this period', shape: 'dots', tone: 'busy' }
  return subscriptionBadges[status] ?? { label: status, shape: 'ring', tone: 'idle' }
}
