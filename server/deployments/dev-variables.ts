import { fillEnvironment } from '../contract/environment-template.ts'
import { getPreset, isPresetName } from '../contract/service-presets.ts'
import { listEnvVarsForTarget } from '../store/deployments.ts'
import { listManagedServices } from '../store/managed-services.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { DeploymentContext } from './context.ts'
import { type AppSpec, nameEnvironment } from './supervised-app.ts'
import type { EnvironmentState, Supervisor } from './supervisor.ts'
import { getServiceUrl } from './variables.ts'

export interface DevVariables {
  variables: Record<string, string>
  /** Names of write-only variables, whose values never leave the instance. */
  left_out: string[]
  notes: string[]
}

/** A service other than the main one, at its address for programs of this machine. */
interface ServiceEndpoint {
  name: string
  host: string
  port: number
  /** The port in the service's own network. */
  internal_port: number
}

/**
 * The variables of a project for a development server, which is a process of this machine: databases, managed services and ready images at addresses
 * that it can reach. A branch without services of its own uses those of production.
 */
export async function readDevVariables(
  context: DeploymentContext,
  supervisor: Supervisor,
  project: ProjectRow,
  { branch, host }: { branch: string | null; host: string },
): Promise<DevVariables & { environment: AppSpec | undefined }> {
  const { db } = context.store
  const rows = await db.read((tx) => listEnvVarsForTarget(tx, project.id, branch === null ? 'production' : 'preview'))
  const own: Record<string, string> = {}
  const writeOnly = new Set<string>()
  for (const row of rows) {
    writeOnly.delete(row.key)
    delete own[row.key]
    if (row.is_write_only === 1) writeOnly.add(row.key)
    else own[row.key] = context.sealer.unseal({ table: 'env_vars', column: 'sealed_value', row: row.id }, row.sealed_value)
  }
  const state =
    (branch === null ? undefined : supervisor.findEnvironment(nameEnvironment({ project_id: project.id, branch }))) ??
    supervisor.findEnvironment(nameEnvironment({ project_id: project.id, branch: undefined }))
  const endpoints = state ? listEndpoints(state) : []
  const notes: string[] = []

  const database = await context.databases.variablesForMachine(project.id, branch)
  const mail = await context.mailCatcher.variablesFor(project.id, 'process')
  const managed: Record<string, string> = {}
  for (const { name, project_id, removed_at, sealed_password } of await db.read((tx) => listManagedServices(tx, project.id))) {
    if (removed_at !== null || !isPresetName(name)) continue
    const endpoint = endpoints.find((one) => one.name === name)
    const { label, is_public, variables } = getPreset(name)
    if (endpoint && state) {
      const password = context.sealer.unseal({ table: 'managed_services', column: 'sealed_password', row: `${project_id} ${name}` }, sealed_password)
      const public_url = is_public ? getServiceUrl(context, state.spec, name) : ''
      Object.assign(managed, variables({ host: endpoint.host, port: endpoint.port, password, public_url }))
    } else notes.push(`${label} is not running, so its variables are not set. Deploy the project once: homeport deploy`)
  }

  const given = { ...own, ...database, ...managed, ...mail.variables }
  const config = state?.main?.config
  const file = config ? fillEnvironment(config, given) : {}
  const variables: Record<string, string> = {
    ...given,
    ...Object.fromEntries(Object.entries(file).map(([name, value]) => [name, replaceHosts(value, endpoints)])),
    ...Object.fromEntries(
      endpoints.map(({ name, host: to, port }) => [`HOMEPORT_SERVICE_${name.toUpperCase().replaceAll('-', '_')}_URL`, `http://${to}:${port}`]),
    ),
    // Development servers of most frameworks build for development only with this value.
    NODE_ENV: 'development',
    HOMEPORT_URL: context.urlOf(host),
    HOMEPORT_ENVIRONMENT: 'development',
  }
  return {
    variables,
    left_out: [...writeOnly].filter((name) => !Object.hasOwn(variables, name)).sort(),
    notes: [...notes, ...(mail.note === null ? [] : [mail.note])],
    environment: endpoints.length > 0 ? state?.spec : undefined,
  }
}

const listEndpoints = ({ spec, services }: EnvironmentState): ServiceEndpoint[] =>
  spec.services.flatMap(({ config: { name, port } }) => {
    const replica = services.get(name)?.replica
    return replica && port !== null ? [{ name, host: replica.host, port: replica.port, internal_port: port }] : []
  })

/** A file names services by the host names of their network, such as `redis://redis:6379`. */
function replaceHosts(value: string, endpoints: readonly ServiceEndpoint[]): string {
  let text = value
  for (const { name, host, port, internal_port } of endpoints) {
    if (value === name) return host
    text = text
      .replaceAll(new RegExp(`(?<=//|@)${name}:${internal_port}(?!\\d)`, 'g'), `${host}:${port}`)
      .replaceAll(new RegExp(`(?<=//|@)${name}(?=[/?#]|$)`, 'g'), `${host}:${port}`)
  }
  return text
}
