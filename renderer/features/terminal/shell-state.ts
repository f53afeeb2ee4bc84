import { toExitCode } from '../../../server/contract/command-frames.ts'
import type { CommandExit } from '../../../server/client/command-session.ts'
import type { StatusBadgeData } from '../../components/status.tsx'

export type ShellState =
  | { name: 'starting' | 'running' | 'closed' }
  | { name: 'exited'; exit: CommandExit }
  /** Ended without an exit code. */
  | { name: 'failed'; error: unknown; was_running: boolean }

export function shellBadge(state: ShellState): StatusBadgeData {
  switch (state.name) {
    case 'starting':
      return { label: 'Starting', shape: 'turning', tone: 'busy' }
    case 'running':
      return { label: 'Connected', shape: 'disc', tone: 'live' }
    case 'closed':
      return { label: 'Ended', shape: 'square', tone: 'idle' }
    case 'exited': {
      const code = toExitCode(state.exit)
      return code === 0 ? { label: 'Exit code 0', shape: 'square', tone: 'idle' } : { label: `Exit code ${code}`, shape: 'cross', tone: 'fail' }
    }
    case 'failed':
      return { label: state.was_running ? 'Ended' : 'Not started', shape: 'cross', tone: 'fail' }
  }
}

export const isOpen = ({ name }: ShellState): boolean => name === 'starting' || name === 'running'
