import { Problem } from '../contract/errors.ts'
import { isOpenToProjectTokens, type OperationSpec, requiredScope } from '../contract/operation.ts'
import { includesScope } from '../contract/token-scopes.ts'
import type { Caller } from '../features/context.ts'

/** Refuses an operation that the scope of the caller's token does not include, or that goes beyond the project that the token is limited to. */
export function checkTokenScope({ scope, project_id }: Caller, spec: OperationSpec, isRemote: boolean): void {
  const required = requiredScope(spec)
  if (scope !== null && !includesScope(scope, required))
    throw new Problem('insufficient_scope', `This needs a token with the scope “${required}”. The scope of this token is “${scope}”.`)
  if (project_id !== null && (isRemote || !isOpenToProjectTokens(spec)))
    throw new Problem('insufficient_scope', `This needs a token with the scope “${required}” for all projects. This token is limited to one project.`)
}
