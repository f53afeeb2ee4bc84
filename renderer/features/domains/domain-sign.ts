import type { Domain } from '../../../server/contract/domains.ts'
import type { Sign } from '../../ui/status.tsx'

const signs: Record<Domain['status'], Sign> = {
  pending: { word: 'Waits for its record', shape: 'ring', tone: 'busy' },
  verified: { word: 'Leads here', shape: 'disc', tone: 'live' },
  failed: { word: 'Not pointing here', shape: 'diamond', tone: 'fail' },
  transfer_requested: { word: 'Moves away', shape: 'dots', tone: 'busy' },
}

export function domainSign(domain: Pick<Domain, 'status' | 'expires_at'>, now: number): Sign {
  if (domain.expires_at !== null && Date.parse(domain.expires_at) <= now) return { word: 'Expired', shape: 'cross', tone: 'fail' }
  return signs[domain.status]
}
