import { fillEnvironment } from '../contract/environment-template.ts'
import { getPreset, isPresetName } from '../contract/service-presets.ts'
import { createServiceLabel } from '../lib/public-ports.ts'
import { listEnvVarsForTarget } from '../store/deployments.ts'
import { listManagedServices } from '../store/managed-services.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { DeploymentContext } from './context.ts'
import { readServicePassword } from './managed-services.ts'
import { createSecretMask } from './secret-mask.ts'
import { type AppSpec, nameEnvironment } from './supervised-app.ts'
import type { EnvironmentState, Supervisor } from './supervisor.ts'
import { addTraceVariables } from './trace-variables.ts'
import { getServiceUrl } from './variables.ts'

export interface DevVariables {
  variables: Record<string, string>
  /** Names of write-only variables, whose values never leave the instance. */
  left_out: string[]
  notes: string[]
}

/** A service other than the main one, at an address for programs of this machine. */
interface ServiceEndpoint {
  name: string
  is_public: boolean
  host: string
  port: number
  /** The port in the service's own network. */
  internal_port: number
}

/**
 * The variables of a project for a development server, which is a process of this machine: databases, managed services and prebuilt images at reachable
 * addresses. A branch without its own services uses those of production. `fork`: services that were started with the branch's own data.
 */
export async function readDevVariables(
  context: DeploymentContext,
  supervisor: Supervisor,
  project: ProjectRow,
  { branch, host, fork }: { branch: string | null; host: string; fork: EnvironmentState | undefined },
): Promise<DevVariables & { environment: AppSpec | undefined; fork_endpoints: ServiceEndpoint[] }> {
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
  const findState = () =>
    fork ??
    (branch === null ? undefined : supervisor.findEnvironment(nameEnvironment({ project_id: project.id, branch }))) ??
    supervisor.findEnvironment(nameEnvironment({ project_id: project.id, branch: undefined }))
  const found = findState()
  // The services of an environment that has been asleep for long are stopped.
  if (found?.is_asleep && found.spec.services.length > 0) await supervisor.wakeEnvironment(found.spec, new AbortController().signal)
  const state = findState()
  const endpoints = state ? listEndpoints(state) : []
  const notes: string[] = []

  const database = await context.databases.variablesForMachine(project.id, branch)
  const mail = await context.mailCatcher.variablesFor(project.id, null)
  const managed: Record<string, string> = {}
  const passwords: string[] = []
  for (const row of await db.read((tx) => listManagedServices(tx, project.id))) {
    const { name } = row
    if (row.removed_at !== null || !isPresetName(name)) continue
    const endpoint = endpoints.find((one) => one.name === name)
    const { label, is_public, variables } = getPreset(name)
    if (endpoint && state) {
      const password = readServicePassword(row, state.spec, context.sealer)
      passwords.push(password)
      const getUrl = () =>
        fork ? context.urlOf(getForkServiceHost(context, project.slug, host, name) ?? host) : getServiceUrl(context, state.spec, name)
      const public_url = is_public ? getUrl() : ''
      Object.assign(managed, variables({ host: endpoint.host, port: endpoint.port, password, public_url }))
    } else notes.push(`${label} is not running, so its variables are not set. Deploy the project once: homeport deploy`)
  }

  const missing = fork ? fork.spec.services.filter(({ config }) => config.port !== null && !endpoints.some(({ name }) => name === config.name)) : []
  if (missing.length > 0)
    notes.push(`Not running for this branch, because it has no preview: ${missing.map(({ config }) => config.name).join(', ')}.`)

  const given = { ...own, ...database, ...managed, ...mail.variables }
  const config = state?.main?.config
  const file = config ? fillEnvironment(config, given) : {}
  const variables: Record<string, string> = {
    ...given,
    ...Object.fromEntries(Object.entries(file).map(([name, value]) => [name, replaceHosts(value, endpoints)])),
    ...Object.fromEntries(
      endpoints.map(({ name, host: to, port }) => [`HOMEPORT_SERVICE_${name.toUpperCase().replaceAll('-', '_')}_URL`, `http://${to}:${port}`]),
    ),
    // The development servers of most frameworks build for development only with this value.
    NODE_ENV: 'development',
    HOMEPORT_URL: context.localUrlOf(host),
    HOMEPORT_ENVIRONMENT: 'development',
  }
  const development = { id: `${nameEnvironment({ project_id: project.id, branch: branch ?? undefined })}_dev`, project_id: project.id, branch }
  const traces = await context.traces.variablesFor(development, null)
  context.traces.setMask(development, createSecretMask([...Object.values({ ...own, ...database }), ...passwords, ...mail.secrets, ...traces.secrets]))
  const resource = { 'deployment.environment.name': 'development' }
  return {
    variables: addTraceVariables(variables, { exporter: traces.variables, service: project.slug, resource }),
    left_out: [...writeOnly].filter((name) => !Object.hasOwn(variables, name)).sort(),
    notes: [...notes, ...(mail.note === null ? [] : [mail.note])],
    environment: endpoints.length > 0 ? state?.spec : undefined,
    fork_endpoints: fork ? endpoints : [],
  }
}

/** The host name of a service of a branch without a preview, next to that of its development server; undefined if it is taken. */
export function getForkServiceHost({ edge }: Pick<DeploymentContext, 'edge'>, slug: string, host: string, service: string): string | undefined {
  const label = createServiceLabel(service, null, host.slice(0, -'.localhost'.length), slug)
  return label === undefined || edge.getRoute(`${label}.localhost`) !== undefined ? undefined : `${label}.localhost`
}

const listEndpoints = ({ spec, services }: EnvironmentState): ServiceEndpoint[] =>
  spec.services.flatMap(({ config: { name, port, is_public } }) => {
    const replica = services.get(name)?.replica
    return replica && port !== null ? [{ name, is_public, host: replica.host, port: replica.port, internal_port: port }] : []
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
