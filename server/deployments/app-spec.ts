import { limits } from '../contract/limits.ts'
import { parseNodeLabels } from '../lib/node-labels.ts'
import { parsePublicPorts } from '../lib/public-ports.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { DeploymentRun } from './deployment-run.ts'
import { createHealthRequest } from './health-request.ts'
import { updateManagedServices } from './managed-services.ts'
import { clampReplicas, createServiceSpecs, decideReplicas, singleApp } from './service-spec.ts'
import { type AppSpec, getEnvironmentId } from './supervised-app.ts'
import { addTraceVariables, describeResource } from './trace-variables.ts'
import { createAppVariables } from './variables.ts'
import type { Version } from './version.ts'

export function createAppSpec(run: Pick<DeploymentRun, 'deployment' | 'project' | 'secrets' | 'context'>, built: Version): AppSpec {
  const version = updateManagedServices(built)
  const { deployment, secrets, context } = run
  // The row of a project has the settings of its live version, and what was changed since.
  const isLive = deployment.is_current === 1 && deployment.target === 'production'
  const project = { ...run.project, ...(isLive ? {} : toProjectColumns(version.settings)) }
  const plan = context.store.db.readSync((tx) => context.getPlanLimits(tx, project.account_id))
  const environment_id = getEnvironmentId(deployment)
  // The plan may have been downgraded since the project's limit was set.
  const memory_mb = Math.min(version.main?.config?.memory_mb ?? project.memory_limit_mb, plan.memory_mb)
  const cpus = Math.min(version.main?.config?.cpus ?? project.cpu_limit ?? limits.cpu.default, context.cpus)
  const node_labels = parseNodeLabels(project.node_labels)
  const variables = createAppVariables(secrets.variables, { url: context.urlOf(context.routes.getHost(deployment)), deployment })
  const withTracing = (given: Record<string, string>, service: string) =>
    addTraceVariables(given, { exporter: secrets.trace_exporter, service, resource: describeResource(deployment) })
  const { main, services } = createServiceSpecs(version, {
    environment_id,
    deployment_id: deployment.id,
    target: deployment.target,
    variables,
    memory_mb,
    cpus,
    node_labels,
    health_timeout_s: project.health_timeout_s,
    max_replicas: plan.max_replicas,
    withTracing,
  })
  const isStarted = version.main !== null && version.main.artifact.kind !== 'static'
  return {
    project_id: project.id,
    deployment_id: deployment.id,
    target: deployment.target,
    branch: deployment.branch,
    environment_id,
    runtime: deployment.runtime,
    artifact: version.main?.artifact ?? null,
    main_service: version.main?.config?.name ?? null,
    main_config: version.main?.config ?? null,
    release: version.release,
    ...(main && { service: main.request }),
    services,
    ports: [...new Set([...(version.main?.config?.ports ?? []), ...parsePublicPorts(project.public_ports)])],
    listen_port: deployment.listen_port,
    memory_mb,
    cpus,
    health: createHealthRequest(version.main?.config?.health_check ?? null, project),
    ...(isStarted
      ? clampReplicas(decideReplicas(version.main?.config ?? singleApp, deployment.target, project, plan.max_replicas))
      : { replicas: 1, autoscaling: null }),
    sticky_sessions: project.sticky_sessions === 1,
    node_labels,
    always_warm: project.always_warm === 1 && plan.always_warm && deployment.target === 'production',
    variables: withTracing({ ...variables, ...main?.variables }, version.main?.config?.name ?? project.slug),
    mask: secrets.mask,
  }
}

/** The settings of a file that are columns of a project's row and apply at run time. The file overrides the project's own. */
export function toProjectColumns(settings: Version['settings']): Partial<Pick<ProjectRow, SettingColumn>> {
  const entries = settingColumns.flatMap((name) => {
    const value = settings[name]
    return value === undefined ? [] : [[name, typeof value === 'boolean' ? Number(value) : typeof value === 'object' ? JSON.stringify(value) : value]]
  })
  const columns = Object.fromEntries(entries) as Partial<Pick<ProjectRow, SettingColumn>>
  // A number in the file turns off autoscaling.
  return settings.replicas === undefined ? columns : { ...columns, autoscaling: null }
}

const settingColumns = [
  'replicas',
  'autoscaling',
  'sticky_sessions',
  'memory_limit_mb',
  'cpu_limit',
  'always_warm',
  'caching_enabled',
  'health_path',
  'health_timeout_s',
  'preview_volumes',
  'watch_paths',
  'public_ports',
] as const
type SettingColumn = (typeof settingColumns)[number]
