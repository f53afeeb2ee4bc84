import { activityActionOf } from '../contract/activity-actions.ts'
import type { ActivityEntry } from '../contract/activity.ts'
import type { OperationId } from '../contract/index.ts'
import { allOperations } from '../contract/index.ts'
import { type Clock, isoTime } from '../lib/clock.ts'
import { truncateClientIp } from '../lib/client-ip.ts'
import type { Log } from '../lib/log.ts'
import { type NewActivity, recordActivity } from '../store/activity.ts'
import { findInvitationEmail } from '../store/invitations.ts'
import { findProjectOrDeleted } from '../store/projects.ts'
import { findRemote } from '../store/remotes.ts'
import type { Db, Tx } from '../store/store.ts'
import { findEnvVar } from '../store/env-vars.ts'
import { findToken } from '../store/tokens.ts'
import { findUser } from '../store/users.ts'
import { type ActivityInput, detailsOf, type KnownResources, targetOf } from './activity-target.ts'
import type { Caller, OperationContext } from './context.ts'

/** A request that changes something. */
export interface ChangeRequest {
  operation: OperationId
  client_address: string
  user_agent: string | undefined
}

/** A change that is being made, for the activity log. */
export interface PendingChange {
  /** Records it in the transaction that makes it. */
  record(tx: Tx, output: unknown): void
  /** Called once it is made; records it unless `record` has. */
  finish(output: unknown): Promise<void>
}

/** Undefined for an operation that is not recorded. Called right before the handler, because a deletion removes the names. */
export type BeginChange = (
  request: ChangeRequest,
  context: OperationContext & KnownResources,
  input: ActivityInput,
) => Promise<PendingChange | undefined>

export function createActivityRecorder({ db, clock, log }: { db: Db; clock: Clock; log: Log }): BeginChange {
  return async (request, context, input) => {
    const { operation } = request
    const action = activityActionOf(operation, input.body)
    if (action === undefined) return undefined
    // Before the handler, which may delete the token that it is called with.
    const { actor, known_name, known_names } = await db.read((tx) => ({
      actor: findActor(tx, context.caller),
      known_name: namesById[operation]?.(tx, String(input.params.id)),
      known_names: operation === 'changeProjectEnvVars' ? variableNames(tx, context.project?.id ?? '', input.body) : undefined,
    }))
    let isRecorded = false
    const record = (tx: Tx, output: unknown) => {
      const target = targetOf(operation, context, input, output, known_name)
      recordActivity(tx, isoTime(clock.now()), {
        action,
        ...actor,
        via: viaOf(context.caller, request.user_agent),
        ...findScope(tx, operation, context, input, output),
        target_id: target?.id ?? null,
        target_name: target?.name?.slice(0, maxName) ?? null,
        details: detailsOf(operation, context, input, output, known_names),
        client_ip: truncateClientIp(request.client_address),
        request_id: context.request_id,
      })
      isRecorded = true
    }
    return {
      record,
      async finish(output) {
        if (isRecorded) return
        try {
          await db.write((tx) => record(tx, output))
        } catch (error) {
          // The change is made. To report a failure would make its sender repeat it.
          log.error('activity_record_failed', { request_id: context.request_id, action, error })
        }
      },
    }
  }
}

const maxName = 300

/** Names of what has only an ID in the path, read before the handler may delete it. */
const namesById: Partial<Record<OperationId, (tx: Tx, id: string) => string | undefined>> = {
  revokeToken: (tx, id) => findToken(tx, id)?.name,
  revokeInvitation: (tx, id) => findInvitationEmail(tx, id)?.email,
  removeMember: (tx, id) => findUser(tx, id)?.email,
  updateRemote: (tx, id) => findRemote(tx, id)?.name,
  deleteRemote: (tx, id) => findRemote(tx, id)?.name,
}

/** The keys of the variables that are added, changed or deleted. */
function variableNames(tx: Tx, projectId: string, body: unknown): string[] {
  const { create = [], update = [], delete: deleted = [] } = body as { create?: { key: string }[]; update?: { id: string }[]; delete?: string[] }
  const ids = [...update.map(({ id }) => id), ...deleted]
  return [...new Set([...create.map(({ key }) => key), ...ids.flatMap((id) => findEnvVar(tx, projectId, id)?.key ?? [])])]
}

type Actor = Pick<NewActivity, 'actor_kind' | 'actor_name' | 'actor_id' | 'user_id' | 'user_email'>

/** The token of instance.json is its owner on this machine. */
function findActor(tx: Tx, { via, credential_id, user_id, email }: Caller): Actor {
  const token = via === 'token' ? findToken(tx, credential_id) : undefined
  const user = { user_id, user_email: email }
  return token?.kind === 'api'
    ? { actor_kind: 'token', actor_id: token.id, actor_name: token.name, ...user }
    : { actor_kind: 'user', actor_id: user_id, actor_name: email, ...user }
}

function viaOf({ via }: Caller, userAgent = ''): ActivityEntry['via'] {
  if (via === 'session') return 'dashboard'
  return userAgent.startsWith('homeport-mcp/') ? 'agent' : userAgent.startsWith('homeport-cli/') ? 'cli' : 'api'
}

/** The project and account of a change. What belongs to no account is shown to the owner of the instance. */
function findScope(
  tx: Tx,
  operation: OperationId,
  { caller, project, domain }: OperationContext & KnownResources,
  { body }: ActivityInput,
  output: unknown,
): Pick<NewActivity, 'account_id' | 'project_id' | 'project_slug'> {
  const id = project?.id ?? domain?.project_id ?? projectIdIn(output)
  const found = project ?? (id === undefined ? undefined : findProjectOrDeleted(tx, id))
  if (found) return { account_id: found.account_id, project_id: found.id, project_slug: found.slug }
  // What happens in a team concerns its owner.
  const team = operation === 'acceptInvitation' ? output : operation === 'leaveTeam' ? { team: body } : undefined
  return { account_id: teamIdIn(team) ?? (allOperations[operation].access === 'owner' ? null : caller.account_id) }
}

/** The project that an operation without one in its path has created or deployed. */
function projectIdIn(output: unknown): string | undefined {
  const { project } = (output ?? {}) as { project?: { id?: unknown } }
  return typeof project?.id === 'string' ? project.id : undefined
}

function teamIdIn(output: unknown): string | undefined {
  const { team } = (output ?? {}) as { team?: { account_id?: unknown } }
  return typeof team?.account_id === 'string' ? team.account_id : undefined
}
