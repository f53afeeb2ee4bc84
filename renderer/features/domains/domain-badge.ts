import type { Domain } from '../../../server/contract/domains.ts'
import { domainStatusLabels, getDomainStatus } from '../../../server/contract/labels.ts'
import type { StatusBadgeData } from '../../components/status.tsx'

const domainBadges = {
  pending: { shape: 'ring', tone: 'busy' },
  verified: { shape: 'disc', tone: 'live' },
  failed: { shape: 'diamond', tone: 'fail' },
  transfer_requested: { shape: 'dots', tone: 'busy' },
  expired: { shape: 'cross', tone: 'fail' },
} as const satisfies Record<keyof typeof domainStatusLabels, Omit<StatusBadgeData, 'label'>>

export function domainBadge(domain: Pick<Domain, 'status' | 'expires_at'>, now: number): StatusBadgeData {
  const status = getDomainStatus(domain, now)
  return { label: domainStatusLabels[status], ...domainBadges[status] }
}
