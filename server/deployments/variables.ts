import { listManagedServices } from '../store/managed-services.ts'
import { listEnvVarsForTarget } from '../store/deployments.ts'
import type { DeploymentRow, ProjectRow } from '../store/tables.ts'
import { isRestricted } from './pull-requests.ts'
import { createSecretMask, type SecretMask } from './secret-mask.ts'
import { type ManagedServices, readManagedServices } from './managed-services.ts'
import type { DeploymentContext } from './context.ts'
import type { RegistryAccess } from '../runtime/registries.ts'
import { getEnvironmentId } from './supervised-app.ts'
import { readRegistryAccess } from './registry-access.ts'

/** The secrets of a deployment, held in memory while the deployment runs. */
export interface DeploymentSecrets {
  /** The project's own variables for the target; the more specific environment overrides both. */
  variables: Record<string, string>
  /** Variables that are mounted into builds of a Dockerfile. */
  build_secrets: Record<string, string>
  mask: SecretMask
  /** The address of the trace receiver and the token of the environment, for running apps only. */
  trace_exporter: Record<string, string>
  /** Services that the project has without a configuration file. */
  managed_services: ManagedServices['names']
  /** The registry credentials for pulling images. */
  registries: RegistryAccess
  /** Notes about the variables for the deployment's log. */
  notes: string[]
  /** Credentials for the address of the repository for which they were entered. */
  getRepositoryCredentials(project: ProjectRow, url: string): { username: string; password: string } | null
}

export async function readSecrets(
  context: DeploymentContext,
  project: ProjectRow,
  deployment: Pick<DeploymentRow, 'project_id' | 'target' | 'branch' | 'runtime' | 'artifact'>,
  declared: ManagedServices['names'] = [],
): Promise<DeploymentSecrets> {
  const { target, branch, runtime } = deployment
  const { rows, restricted } = await context.store.db.read((tx) => {
    const restricted = isRestricted(tx, deployment)
    const all = listEnvVarsForTarget(tx, project.id, target)
    return { rows: restricted ? all.filter(isForStrangers) : all, restricted }
  })
  const variables: Record<string, string> = {}
  for (const row of rows) variables[row.key] = context.sealer.unseal({ table: 'env_vars', column: 'sealed_value', row: row.id }, row.sealed_value)
  // The row of the target comes last and takes precedence.
  const isBuildSecret = new Map(rows.map((row) => [row.key, row.is_build_secret === 1]))
  const credentials = readCredentials(context, project)
  const database = restricted ? { variables: {}, secrets: [], note: null } : await context.databases.variablesFor(project.id, target, branch, runtime)
  const managed = readManagedServices(
    await context.store.db.read((tx) => listManagedServices(tx, project.id)),
    deployment,
    context.sealer,
    (service) => getServiceUrl(context, { project_id: project.id, target, branch }, service),
    declared,
  )
  const registries = restricted ? { logins: [], uses_docker_login: false } : await readRegistryAccess(context, project)
  const mail = await context.mailCatcher.variablesFor(project.id, runtime)
  const environment = { id: getEnvironmentId(deployment), project_id: project.id, branch: target === 'preview' ? branch : null }
  const traces = await context.traces.variablesFor(environment, runtime)
  const given = { ...database.variables, ...managed.variables, ...mail.variables }
  const replaced = Object.keys({ ...managed.variables, ...mail.variables }).filter((name) => Object.hasOwn(variables, name))
  // Host names and ports of managed services are no secrets.
  const secretValues = [...Object.values(variables), ...Object.values(database.variables), ...database.secrets]
  Object.assign(variables, given)
  const mask = createSecretMask([
    ...secretValues,
    ...managed.secrets,
    ...mail.secrets,
    ...traces.secrets,
    ...listCredentialSecrets(credentials),
    ...registries.logins.map(({ password }) => password),
  ])
  context.traces.setMask(environment, mask)
  return {
    variables,
    build_secrets: Object.fromEntries(Object.entries(variables).filter(([key]) => isBuildSecret.get(key) === true)),
    managed_services: managed.names,
    registries,
    notes: [
      ...(restricted ? [restrictionNote] : []),
      ...[database.note, mail.note, traces.note].filter((note) => note !== null),
      ...(replaced.length === 0 ? [] : [`Managed services set ${replaced.join(', ')} instead of the project’s own values.`]),
    ],
    mask,
    trace_exporter: traces.variables,
    getRepositoryCredentials: (current, url) =>
      credentials && current.repo_url !== null && isSameOrigin(current.repo_url, url) ? credentials : null,
  }
}

/** The address at the edge of a service other than the main one. */
export const getServiceUrl = (
  { routes, urlOf }: DeploymentContext,
  slot: Pick<DeploymentRow, 'project_id' | 'target' | 'branch'>,
  service: string,
): string => urlOf(routes.findServiceHost(slot, service) ?? routes.getHost(slot))

const restrictionNote =
  'This is a pull request: it gets the variables of previews that are not sensitive, and no database and volumes of the project.'

/** A variable for previews only that is not sensitive. */
const isForStrangers = (row: { environment: string | null; is_sensitive: 0 | 1; is_write_only: 0 | 1 }): boolean =>
  row.environment === 'preview' && row.is_sensitive === 0 && row.is_write_only === 0

/** A token is often used as the username. */
function listCredentialSecrets(credentials: { username: string; password: string } | null): string[] {
  if (!credentials) return []
  return [credentials.password === '' ? credentials.username : credentials.password]
}

export function readCredentials(context: Pick<DeploymentContext, 'sealer'>, project: ProjectRow): { username: string; password: string } | null {
  if (!project.sealed_repo_credentials) return null
  const text = context.sealer.unseal({ table: 'projects', column: 'sealed_repo_credentials', row: project.id }, project.sealed_repo_credentials)
  return JSON.parse(text) as { username: string; password: string }
}

export function isSameOrigin(a: string, b: string): boolean {
  const [left, right] = [new URL(a), new URL(b)]
  return left.protocol === right.protocol && left.host === right.host
}

/** The complete environment of an app, without PORT and HOST, which the runtime sets. */
export function createAppVariables(own: Record<string, string>, facts: { url: string; deployment: DeploymentRow }): Record<string, string> {
  return {
    NODE_ENV: 'production',
    ...own,
    HOMEPORT_URL: facts.url,
    HOMEPORT_DEPLOYMENT_ID: facts.deployment.id,
    HOMEPORT_GIT_COMMIT_SHA: facts.deployment.commit_sha ?? '',
    HOMEPORT_ENVIRONMENT: facts.deployment.target,
  }
}
