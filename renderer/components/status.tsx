import type { DeploymentStatus, StepStatus } from '../../server/contract/deployments.ts'
import { asleepLabel, deploymentStatusLabels, notReachedLabel, projectStatusLabels, stepStatusLabels } from '../../server/contract/labels.ts'
import type { ProjectStatus } from '../../server/contract/projects.ts'
import './status.css'

/** Each status has its own shape, so that it is recognizable without color. */
type Shape = 'disc' | 'ring' | 'turning' | 'diamond' | 'cross' | 'square' | 'crescent' | 'dash' | 'dots'
type Tone = 'live' | 'busy' | 'fail' | 'cold' | 'idle'
export interface StatusBadgeData {
  label: string
  shape: Shape
  tone: Tone
}

const projectBadges: Record<ProjectStatus, StatusBadgeData> = {
  created: { label: projectStatusLabels.created, shape: 'ring', tone: 'idle' },
  building: { label: projectStatusLabels.building, shape: 'turning', tone: 'busy' },
  live: { label: projectStatusLabels.live, shape: 'disc', tone: 'live' },
  failed: { label: projectStatusLabels.failed, shape: 'diamond', tone: 'fail' },
  crashed: { label: projectStatusLabels.crashed, shape: 'cross', tone: 'fail' },
  inactive: { label: projectStatusLabels.inactive, shape: 'square', tone: 'idle' },
}

const deploymentBadges: Record<DeploymentStatus, StatusBadgeData> = {
  queued: { label: deploymentStatusLabels.queued, shape: 'dots', tone: 'idle' },
  building: { label: deploymentStatusLabels.building, shape: 'turning', tone: 'busy' },
  deploying: { label: deploymentStatusLabels.deploying, shape: 'turning', tone: 'busy' },
  ready: { label: deploymentStatusLabels.ready, shape: 'disc', tone: 'live' },
  failed: { label: deploymentStatusLabels.failed, shape: 'diamond', tone: 'fail' },
  canceled: { label: deploymentStatusLabels.canceled, shape: 'dash', tone: 'idle' },
}

const stepBadges: Record<StepStatus, StatusBadgeData> = {
  pending: { label: stepStatusLabels.pending, shape: 'ring', tone: 'idle' },
  running: { label: stepStatusLabels.running, shape: 'turning', tone: 'busy' },
  done: { label: stepStatusLabels.done, shape: 'disc', tone: 'live' },
  failed: { label: stepStatusLabels.failed, shape: 'diamond', tone: 'fail' },
  skipped: { label: stepStatusLabels.skipped, shape: 'dash', tone: 'idle' },
  canceled: { label: stepStatusLabels.canceled, shape: 'dash', tone: 'idle' },
}

/** `isServing`: a version is live, which the build of the next one does not affect. */
export function projectBadge(project: { status: ProjectStatus; is_cold: boolean }, isServing = false): StatusBadgeData {
  const status = project.status === 'building' && isServing ? 'live' : project.status
  if (status === 'live' && project.is_cold) return { label: asleepLabel, shape: 'crescent', tone: 'cold' }
  return projectBadges[status]
}

/** Badge of the live version, independent of a running build or of sleep. */
export function servingBadge({ status }: { status: ProjectStatus }): StatusBadgeData {
  return projectBadges[status === 'crashed' ? 'crashed' : 'live']
}

export function deploymentBadge(status: DeploymentStatus): StatusBadgeData {
  return deploymentBadges[status]
}

export function stepBadge(status: StepStatus, isReached = true): StatusBadgeData {
  return isReached ? stepBadges[status] : { ...stepBadges[status], label: notReachedLabel }
}

export const checkBadges: Record<'ok' | 'warning' | 'failed', StatusBadgeData> = {
  ok: { label: 'OK', shape: 'disc', tone: 'live' },
  warning: { label: 'Needs attention', shape: 'ring', tone: 'busy' },
  failed: { label: 'Failed', shape: 'diamond', tone: 'fail' },
}

/** The icon alone, for places where text is next to it or `label` names it. */
export function StatusIcon({ badge, size = 12, label }: { badge: StatusBadgeData; size?: number; label?: string }) {
  return (
    <svg
      className={`status-icon tone-${badge.tone} ${badge.shape === 'turning' ? 'status-icon-spinning' : ''}`}
      width={size}
      height={size}
      viewBox="0 0 12 12"
      {...(label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label })}
    >
      {shapes[badge.shape]}
    </svg>
  )
}

/** Icon and label on a tinted background. */
export function StatusBadge({ badge, children }: { badge: StatusBadgeData; children?: React.ReactNode }) {
  return (
    <span className={`badge tone-${badge.tone}`}>
      <StatusIcon badge={badge} size={10} />
      {badge.label}
      {children}
    </span>
  )
}

/** Icon and label in running text. */
export function StatusText({ badge }: { badge: StatusBadgeData }) {
  return (
    <span className="status-text">
      <StatusIcon badge={badge} />
      {badge.label}
    </span>
  )
}

const shapes: Record<Shape, React.ReactNode> = {
  disc: <circle cx="6" cy="6" r="4.5" fill="currentColor" />,
  ring: <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" strokeWidth="1.8" />,
  turning: <path d="M6 1.8A4.2 4.2 0 1 1 1.8 6" fill="none" stroke="currentColor" strokeWidth="2" strokeLinecap="round" />,
  diamond: <path d="M6 .7 11.3 6 6 11.3.7 6Z" fill="currentColor" />,
  cross: <path d="m2.2 2.2 7.6 7.6m0-7.6-7.6 7.6" stroke="currentColor" strokeWidth="2.4" strokeLinecap="round" />,
  square: <rect x="2" y="2" width="8" height="8" rx="1" fill="none" stroke="currentColor" strokeWidth="1.8" />,
  crescent: <path d="M8.9 8.6A4.9 4.9 0 0 1 5 1.2a5 5 0 1 0 5.9 6.4 4.8 4.8 0 0 1-2 1Z" fill="currentColor" />,
  dash: <path d="M2 6h8" stroke="currentColor" strokeWidth="2.2" strokeLinecap="round" />,
  dots: <path d="M2 6h.01M6 6h.01M10 6h.01" stroke="currentColor" strokeWidth="2.6" strokeLinecap="round" />,
}
