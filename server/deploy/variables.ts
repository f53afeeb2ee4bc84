import { listVariables } from '../store/deployments.ts'
import type { DeploymentRow, ProjectRow } from '../store/tables.ts'
import { createMask, type Mask } from './mask.ts'
import type { YardDeps } from './yard.ts'

/** What a deployment knows that nobody else may see. It lives in memory for as long as the deployment runs. */
export interface Secrets {
  /** The project's own variables for the target; the more specific environment wins over both. */
  variables: Record<string, string>
  mask: Mask
  /** What the log of a deployment says about them. */
  notes: string[]
  /** For an address of the very repository that the credentials were given with. */
  repository(project: ProjectRow, url: string): { username: string; password: string } | null
}

export async function readSecrets(
  deps: YardDeps,
  project: ProjectRow,
  deployment: Pick<DeploymentRow, 'target' | 'branch' | 'runtime'>,
): Promise<Secrets> {
  const { target, branch, runtime } = deployment
  const rows = await deps.store.db.read((tx) => listVariables(tx, project.id, target))
  const variables: Record<string, string> = {}
  for (const row of rows) variables[row.key] = deps.sealer.unseal({ table: 'env_vars', column: 'sealed_value', row: row.id }, row.sealed_value)
  const credentials = readCredentials(deps, project)
  const database = await deps.databases.variablesFor(project.id, target, branch, runtime)
  Object.assign(variables, database.variables)
  return {
    variables,
    notes: database.note === null ? [] : [database.note],
    mask: createMask([...Object.values(variables), ...database.secrets, ...secretsIn(credentials)]),
    repository: (current, url) => (credentials && current.repo_url !== null && sameOrigin(current.repo_url, url) ? credentials : null),
  }
}

/** A token often stands alone, in the place of the user's name. */
function secretsIn(credentials: { username: string; password: string } | null): string[] {
  if (!credentials) return []
  return [credentials.password === '' ? credentials.username : credentials.password]
}

export function readCredentials(deps: Pick<YardDeps, 'sealer'>, project: ProjectRow): { username: string; password: string } | null {
  if (!project.sealed_repo_credentials) return null
  const text = deps.sealer.unseal({ table: 'projects', column: 'sealed_repo_credentials', row: project.id }, project.sealed_repo_credentials)
  return JSON.parse(text) as { username: string; password: string }
}

export function sameOrigin(a: string, b: string): boolean {
  const [left, right] = [new URL(a), new URL(b)]
  return left.protocol === right.protocol && left.host === right.host
}

/** The whole environment of an app but for PORT and HOST, which the runtime sets. */
export function appVariables(own: Record<string, string>, facts: { url: string; deployment: DeploymentRow }): Record<string, string> {
  return {
    NODE_ENV: 'production',
    ...own,
    HOMEPORT_URL: facts.url,
    HOMEPORT_DEPLOYMENT_ID: facts.deployment.id,
    HOMEPORT_GIT_COMMIT_SHA: facts.deployment.commit_sha ?? '',
    HOMEPORT_ENVIRONMENT: facts.deployment.target,
  }
}
