import type { CallOutput } from '../client/operation-types.ts'
import type { UsageSeries } from '../contract/project-metrics.ts'
import { buildLogTool, failureTool, runtimeLogTool } from './log-tools.ts'
import { replayTool } from './replay-tool.ts'
import { queryTool } from './query-tool.ts'
import { operationTool, type Tool } from './tool.ts'
import { setVariableTool } from './variable-tools.ts'

/** The tools of agents. No tool returns the value of a variable or a credential; the data of an app only `query_database`. */
export const tools: readonly Tool[] = [
  operationTool('list_projects', 'listProjects'),
  operationTool('get_project', 'getProject'),
  operationTool('create_project', 'createProject'),
  operationTool('deploy', 'deployProject'),
  operationTool('deploy_folder', 'deployFolder'),
  operationTool('list_deployments', 'listDeployments'),
  operationTool('get_deployment', 'getDeployment', { query: { build_log: 'false' }, select: withoutLog }),
  operationTool('redeploy', 'retryDeployment'),
  operationTool('cancel_deployment', 'cancelDeployment'),
  operationTool('plan_rollback', 'planRollback'),
  operationTool('rollback', 'rollbackDeployment'),
  failureTool,
  buildLogTool,
  runtimeLogTool,
  operationTool('search_logs', 'searchLogs'),
  operationTool('list_log_lines', 'listLogLines'),
  operationTool('get_metrics', 'getProjectMetrics', { select: withoutEmptyBuckets }),
  operationTool('list_routes', 'listRoutes'),
  operationTool('list_requests', 'listRequests'),
  operationTool('get_request', 'getRequest'),
  operationTool('list_traces', 'listTraces'),
  operationTool('get_trace', 'getTrace', { select: withFirstSpans }),
  replayTool,
  operationTool('list_activity', 'listActivity'),
  operationTool('get_instance_usage', 'getInstanceUsage'),
  operationTool('list_previews', 'listPreviews'),
  operationTool('list_variables', 'listEnvVarKeys'),
  setVariableTool,
  operationTool('delete_variable', 'deleteEnvVar'),
  operationTool('list_domains', 'listProjectDomains'),
  operationTool('add_domain', 'addDomain'),
  operationTool('verify_domain', 'verifyDomain'),
  operationTool('list_services', 'listServices'),
  operationTool('restart_service', 'restartService'),
  operationTool('run_cron_service', 'runCronService'),
  operationTool('list_managed_services', 'listManagedServices'),
  operationTool('add_managed_service', 'addManagedService'),
  operationTool('list_volumes', 'listVolumes'),
  operationTool('list_volume_files', 'listVolumeFiles'),
  operationTool('create_snapshot', 'createVolumeSnapshot'),
  operationTool('restore_snapshot', 'restoreVolume'),
  operationTool('delete_volume', 'deleteVolume'),
  operationTool('describe_database', 'describeDatabase'),
  queryTool,
  operationTool('list_database_dumps', 'listDatabaseDumps'),
  operationTool('dump_database', 'dumpDatabase'),
  operationTool('restore_database', 'restoreDatabase', { select: ({ dump }: CallOutput<'restoreDatabase'>) => ({ dump }) }),
]

function withoutLog({ deployment }: CallOutput<'getDeployment'>) {
  const { build_log: _, build_log_truncated: __, ...rest } = deployment
  return { deployment: rest }
}

/** A trace may have thousands of spans. */
const maxSpans = 300
function withFirstSpans({ spans, is_truncated, ...rest }: CallOutput<'getTrace'>) {
  return { ...rest, spans: spans.slice(0, maxSpans), is_truncated: is_truncated || spans.length > maxSpans }
}

/** Of CPU and memory only the last values. */
const lastValues = ({ cpu_percent, memory_mb }: UsageSeries) => ({ cpu_percent: cpu_percent.slice(-12), memory_mb: memory_mb.slice(-12) })
function withoutEmptyBuckets({ buckets, usage, ...rest }: CallOutput<'getProjectMetrics'>) {
  return {
    ...rest,
    usage: usage.map(({ service, replicas, ...series }) => ({
      service,
      ...lastValues(series),
      replicas: replicas.map(({ replica, ...own }) => ({ replica, ...lastValues(own) })),
    })),
    buckets: buckets.filter(({ requests, cold_starts }) => requests > 0 || cold_starts > 0),
  }
}
