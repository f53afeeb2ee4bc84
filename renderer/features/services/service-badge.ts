import { cronRunStatusLabels, serviceStatusLabels } from '../../../server/contract/labels.ts'
import type { CronRun, Service } from '../../../server/contract/services.ts'
import type { StatusBadgeData } from '../../components/status.tsx'

const shapes: Record<Service['status'], Omit<StatusBadgeData, 'label'>> = {
  starting: { shape: 'turning', tone: 'busy' },
  running: { shape: 'disc', tone: 'live' },
  completed: { shape: 'disc', tone: 'idle' },
  crashed: { shape: 'cross', tone: 'fail' },
  stopped: { shape: 'square', tone: 'idle' },
  asleep: { shape: 'crescent', tone: 'cold' },
  scheduled: { shape: 'dots', tone: 'idle' },
}

export const serviceBadge = (status: Service['status']): StatusBadgeData => ({ label: serviceStatusLabels[status], ...shapes[status] })

const runShapes: Record<CronRun['status'], Omit<StatusBadgeData, 'label'>> = {
  running: { shape: 'turning', tone: 'busy' },
  succeeded: { shape: 'disc', tone: 'live' },
  failed: { shape: 'diamond', tone: 'fail' },
  skipped: { shape: 'dash', tone: 'idle' },
  missed: { shape: 'dash', tone: 'idle' },
  interrupted: { shape: 'diamond', tone: 'fail' },
}

export const cronRunBadge = (status: CronRun['status']): StatusBadgeData => ({ label: cronRunStatusLabels[status], ...runShapes[status] })
