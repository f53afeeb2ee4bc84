import type { Domain } from '../../../server/contract/domains.ts'
import type { StatusBadgeData } from '../../components/status.tsx'

const domainBadges: Record<Domain['status'], StatusBadgeData> = {
  pending: { label: 'Waiting for DNS', shape: 'ring', tone: 'busy' },
  verified: { label: 'Verified', shape: 'disc', tone: 'live' },
  failed: { label: 'Not pointing here', shape: 'diamond', tone: 'fail' },
  transfer_requested: { label: 'Transferring out', shape: 'dots', tone: 'busy' },
}

export function domainBadge(domain: Pick<Domain, 'status' | 'expires_at'>, now: number): StatusBadgeData {
  if (domain.expires_at !== null && Date.parse(domain.expires_at) <= now) return { label: 'Expired', shape: 'cross', tone: 'fail' }
  return domainBadges[domain.status]
}
