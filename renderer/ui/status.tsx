import type { DeploymentStatus, StepStatus } from '../../server/contract/deployments.ts'
import type { ProjectStatus } from '../../server/contract/projects.ts'
import './status.css'

/** Shapes as sea marks have them: each state is told by its form alone, then by its word, and last by its colour. */
type Shape = 'disc' | 'ring' | 'turning' | 'diamond' | 'cross' | 'square' | 'crescent' | 'dash' | 'dots'
type Tone = 'live' | 'busy' | 'fail' | 'cold' | 'idle'
export interface Sign {
  word: string
  shape: Shape
  tone: Tone
}

const projectSigns: Record<ProjectStatus, Sign> = {
  created: { word: 'Not deployed', shape: 'ring', tone: 'idle' },
  building: { word: 'Building', shape: 'turning', tone: 'busy' },
  live: { word: 'Live', shape: 'disc', tone: 'live' },
  failed: { word: 'Failed', shape: 'diamond', tone: 'fail' },
  crashed: { word: 'Crashed', shape: 'cross', tone: 'fail' },
  inactive: { word: 'Stopped', shape: 'square', tone: 'idle' },
}

const deploymentSigns: Record<DeploymentStatus, Sign> = {
  queued: { word: 'Queued', shape: 'dots', tone: 'idle' },
  building: { word: 'Building', shape: 'turning', tone: 'busy' },
  deploying: { word: 'Deploying', shape: 'turning', tone: 'busy' },
  ready: { word: 'Ready', shape: 'disc', tone: 'live' },
  failed: { word: 'Failed', shape: 'diamond', tone: 'fail' },
  canceled: { word: 'Canceled', shape: 'dash', tone: 'idle' },
}

const stepSigns: Record<StepStatus, Sign> = {
  pending: { word: 'Waiting', shape: 'ring', tone: 'idle' },
  running: { word: 'Running', shape: 'turning', tone: 'busy' },
  done: { word: 'Done', shape: 'disc', tone: 'live' },
  failed: { word: 'Failed', shape: 'diamond', tone: 'fail' },
  skipped: { word: 'Skipped', shape: 'dash', tone: 'idle' },
  canceled: { word: 'Canceled', shape: 'dash', tone: 'idle' },
}

/** `isServing`: a version answers at the address, which the build of the next one leaves as it is. */
export function projectSign(project: { status: ProjectStatus; is_cold: boolean }, isServing = false): Sign {
  const status = project.status === 'building' && isServing ? 'live' : project.status
  if (status === 'live' && project.is_cold) return { word: 'Live, asleep', shape: 'crescent', tone: 'cold' }
  return projectSigns[status]
}

/** Of the version that serves: a build of another one, or sleep, does not change it. */
export function servingSign({ status }: { status: ProjectStatus }): Sign {
  return projectSigns[status === 'crashed' ? 'crashed' : 'live']
}

export function deploymentSign(status: DeploymentStatus): Sign {
  return deploymentSigns[status]
}

export function stepSign(status: StepStatus, isReached = true): Sign {
  return isReached ? stepSigns[status] : { ...stepSigns[status], word: 'Not reached' }
}

export const checkSigns: Record<'ok' | 'warning' | 'failed', Sign> = {
  ok: { word: 'Good', shape: 'disc', tone: 'live' },
  warning: { word: 'Look at this', shape: 'ring', tone: 'busy' },
  failed: { word: 'Failed', shape: 'diamond', tone: 'fail' },
}

/** The shape alone, where the word stands right beside it or is said by `label`. */
export function Mark({ sign, size = 12, label }: { sign: Sign; size?: number; label?: string }) {
  return (
    <svg
      className={`mark tone-${sign.tone} ${sign.shape === 'turning' ? 'mark-turning' : ''}`}
      width={size}
      height={size}
      viewBox="0 0 12 12"
      {...(label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label })}
    >
      {shapes[sign.shape]}
    </svg>
  )
}

/** Mark and word on a tinted plate. */
export function StatusPlate({ sign, children }: { sign: Sign; children?: React.ReactNode }) {
  return (
    <span className={`plate tone-${sign.tone}`}>
      <Mark sign={sign} size={10} />
      {sign.word}
      {children}
    </span>
  )
}

/** Mark and word in running text. */
export function StatusWord({ sign }: { sign: Sign }) {
  return (
    <span className="status-word">
      <Mark sign={sign} />
      {sign.word}
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
