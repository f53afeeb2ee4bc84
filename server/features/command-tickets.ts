import { limits } from '../contract/limits.ts'
import { Problem } from '../contract/errors.ts'
import type { CommandRequest, DeploymentService, RunningCommand } from '../deployments/service.ts'
import { type Clock, isoTime, type Timer } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { hashSecret, newSecret } from '../lib/token.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { Caller } from './context.ts'

/** A one-off command whose client has presented its ticket. */
export interface ClaimedCommand {
  caller: Caller
  project: Pick<ProjectRow, 'id' | 'slug'>
  /** Throws a `Problem`. */
  start(signal: AbortSignal): Promise<RunningCommand>
  /** Must be called once the command is over. */
  release(): void
}

export interface CommandTickets {
  /** Throws `too_many_commands`. */
  issue(
    caller: Caller,
    project: ProjectRow,
    request: CommandRequest & { branch: string | undefined },
  ): { id: string; ticket: string; expires_at: string }
  /** undefined: unknown, expired or used. */
  claim(ticket: string): ClaimedCommand | undefined
}

interface PendingCommand {
  command: ClaimedCommand
  timer: Timer
}

/** Each prepared command has a ticket, valid once and for a short time, with which its WebSocket connects. */
export function createCommandTickets({ clock, deployments }: { clock: Clock; deployments: Pick<DeploymentService, 'commands'> }): CommandTickets {
  const pending = new Map<string, PendingCommand>()
  /** Prepared and running commands, by account. */
  const counts = new Map<string, number>()
  const count = (accountId: string, change: 1 | -1) => {
    const next = (counts.get(accountId) ?? 0) + change
    if (next === 0) counts.delete(accountId)
    else counts.set(accountId, next)
  }

  return {
    issue(caller, project, { branch, ...request }) {
      const { running, ticket_ms } = limits.one_off_command
      if ((counts.get(caller.account_id) ?? 0) >= running)
        throw new Problem('too_many_commands', `${running} one-off commands are already running. End one of them, then try again.`)
      const ticket = newSecret()
      const key = hashSecret(ticket)
      count(caller.account_id, 1)
      let isOver = false
      const command: ClaimedCommand = {
        caller,
        project,
        start: (signal) => deployments.commands.start({ project_id: project.id, branch }, request, signal),
        release() {
          if (!isOver) count(caller.account_id, -1)
          isOver = true
        },
      }
      const timer = clock
        .setTimeout(() => {
          pending.delete(key)
          command.release()
        }, ticket_ms)
        .unref()
      pending.set(key, { command, timer })
      return { id: newId('cmd'), ticket, expires_at: isoTime(clock.now() + ticket_ms) }
    },

    claim(ticket) {
      const key = hashSecret(ticket)
      const found = pending.get(key)
      pending.delete(key)
      found?.timer.cancel()
      return found?.command
    },
  }
}
