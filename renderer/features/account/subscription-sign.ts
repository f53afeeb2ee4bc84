import type { BillingStatus } from '../../../server/contract/billing.ts'
import type { Sign } from '../../ui/status.tsx'

const signs: Record<string, Sign> = {
  active: { word: 'Paid', shape: 'disc', tone: 'live' },
  trialing: { word: 'On trial', shape: 'disc', tone: 'live' },
  past_due: { word: 'Payment is late', shape: 'diamond', tone: 'fail' },
  unpaid: { word: 'Not paid', shape: 'diamond', tone: 'fail' },
  incomplete: { word: 'Payment is not done yet', shape: 'ring', tone: 'busy' },
  incomplete_expired: { word: 'Was never paid', shape: 'dash', tone: 'idle' },
  paused: { word: 'Paused', shape: 'square', tone: 'idle' },
  canceled: { word: 'Ended', shape: 'dash', tone: 'idle' },
}

/** How the payment processor has the subscription; a word of its own that we do not know stands as it is. */
export function subscriptionSign({ subscription_status: status, cancel_at }: BillingStatus): Sign | null {
  if (status === null) return null
  if (cancel_at !== null && (status === 'active' || status === 'trialing')) return { word: 'Ends with the period', shape: 'dots', tone: 'busy' }
  return signs[status] ?? { word: status, shape: 'ring', tone: 'idle' }
}
