import type { ActivityEntry } from '../contract/activity.ts'
import { allOperations, type OperationId } from '../contract/index.ts'
import { limits } from '../contract/limits.ts'
import type { Resources } from './context.ts'

/** What a change is about: its target and its details. Names only, never values. */

/** The resources that the operation handler has loaded. */
export type KnownResources = Partial<Resources['deployment'] & Resources['env_var'] & Resources['database_dump'] & Resources['domain']>

/** The parsed input of an operation. */
export interface ActivityInput {
  params: Record<string, unknown>
  query: Record<string, unknown>
  body: unknown
}

interface Target {
  id: string | null
  name: string | null
}

type Fields = Readonly<Record<string, unknown>>

/** The parts of a response that may be the target. */
const outputParts = [
  'deployment',
  'domain',
  'api_token',
  'remote',
  'user',
  'invitation',
  'team',
  'backup',
  'snapshot',
  'dump',
  'session',
  'target',
  'deploy_hook',
  'log_drain',
] as const
/** Fields of a target that name it. */
const nameFields = ['hostname', 'name', 'email', 'owner_email', 'branch'] as const
/** Parameters and fields of a body that name the target. `path` of a volume is one in its container; other paths are those of a machine. */
const inputNames = ['name', 'host', 'hostname', 'member_email', 'email', 'service', 'branch'] as const

export function targetOf(
  operation: OperationId,
  { env_var, domain, dump, deployment }: KnownResources,
  { params, query, body }: ActivityInput,
  output: unknown,
  knownName: string | undefined,
): Target | undefined {
  if (env_var) return { id: env_var.id, name: env_var.key }
  if (domain) return { id: domain.id, name: domain.hostname }
  const answer = toFields(output)
  const volume = textOf(answer.volume)
  if (volume !== null) return { id: null, name: volume }
  const part = outputParts.map((name) => toFields(answer[name])).find((fields) => Object.keys(fields).length > 0)
  const inputs = [params, toFields(body), query]
  const inputName = inputs.flatMap((fields) => inputNames.map((name) => textOf(fields[name]))).find((text) => text !== null) ?? null
  if (part && allOperations[operation].path !== '/v1/projects')
    return { id: textOf(part.id), name: nameFields.map((name) => textOf(part[name])).find((text) => text !== null) ?? inputName }
  if (deployment) return { id: deployment.id, name: deployment.branch }
  if (dump) return { id: dump.id, name: null }
  const id = textOf(params.id)
  return id === null && inputName === null && knownName === undefined ? undefined : { id, name: knownName ?? inputName }
}

export function detailsOf(
  operation: OperationId,
  { env_var, deployment }: KnownResources,
  { query, body }: ActivityInput,
  output: unknown,
  knownNames: string[] | undefined,
): Partial<ActivityEntry['details']> {
  const started = toFields(toFields(output).deployment)
  const branch = textOf(started.branch) ?? textOf(toFields(body).branch) ?? textOf(query.branch) ?? deployment?.branch
  const commit = textOf(started.commit_sha) ?? deployment?.commit_sha
  const names = knownNames ?? (env_var ? [env_var.key] : changedNames(operation, toFields(body)))
  return {
    ...(names.length > 0 && { names: names.slice(0, limits.activity.names) }),
    ...(branch != null && { branch }),
    ...(commit != null && { commit_sha: commit }),
  }
}

/** Keys of new variables, the kinds of cleaned data, or the fields of a partial update. */
function changedNames(operation: OperationId, body: Fields): string[] {
  const listed = [body.vars, body.kinds].find(Array.isArray)
  if (listed) return listed.flatMap((one: unknown) => textOf(one) ?? textOf(toFields(one).key) ?? [])
  if (textOf(body.key) !== null) return [String(body.key)]
  return allOperations[operation].method === 'PATCH' ? Object.keys(body) : []
}

const toFields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
