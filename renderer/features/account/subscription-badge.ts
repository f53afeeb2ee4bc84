import type { BillingStatus } from '../../../server/contract/billing.ts'
import type { StatusBadgeData } from '../../components/status.tsx'

const subscriptionBadges: Record<string, StatusBadgeData> = {
  active: { label: 'Paid', shape: 'disc', tone: 'live' },
  trialing: { label: 'On trial', shape: 'disc', tone: 'live' },
  past_due: { label: 'Payment is late', shape: 'diamond', tone: 'fail' },
  unpaid: { label: 'Not paid', shape: 'diamond', tone: 'fail' },
  incomplete: { label: 'Payment is not done yet', shape: 'ring', tone: 'busy' },
  incomplete_expired: { label: 'Was never paid', shape: 'dash', tone: 'idle' },
  paused: { label: 'Paused', shape: 'square', tone: 'idle' },
  canceled: { label: 'Ended', shape: 'dash', tone: 'idle' },
}

/** How the payment processor has the subscription; a word of its own that we do not know stands as it is. */
export function subscriptionBadge({ subscription_status: status, cancel_at }: BillingStatus): StatusBadgeData | null {
  if (status === null) return null
  if (cancel_at !== null && (status === 'active' || status === 'trialing')) return { label: 'Ends with the period', shape: 'dots', tone: 'busy' }
  return subscriptionBadges[status] ?? { label: status, shape: 'ring', tone: 'idle' }
}
