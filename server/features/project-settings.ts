import type { ProjectSettings } from '../contract/project-settings.ts'
import { explainScaling } from '../contract/autoscaling.ts'
import { isoTime } from '../lib/clock.ts'
import { formatPublicPorts, parsePublicPorts } from '../lib/public-ports.ts'
import { parseNodeLabels } from '../lib/node-labels.ts'
import { parseApps } from '../lib/project-apps.ts'
import { listScalingDecisions, parseAutoscaling, toAutoscalingColumn } from '../store/autoscaling.ts'
import { formatWatchPaths, parseWatchPaths } from '../lib/watch-paths.ts'
import { findProject, updateProject } from '../store/projects.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { effectivePlanOfAccount } from './plans.ts'
import { requireReplicaCapacity } from './preconditions.ts'

type ProjectSettingsHandlers = Pick<OperationHandlers, 'getProjectSettings' | 'updateProjectSettings' | 'listScalingDecisions'>

export function createProjectSettingsHandlers(deps: FeatureDeps): ProjectSettingsHandlers {
  const present = (row: ProjectRow) => ({ settings: presentProjectSettings(row), cpus: deps.cpus })
  return {
    async getProjectSettings({ project }) {
      return present(project)
    },

    async updateProjectSettings({ project }, { body }) {
      const { cpu_limit, watch_paths, public_ports, apps, tracing, autoscaling, sticky_sessions, node_labels, ...plain } = body
      return deps.store.db.write((tx) => {
        const plan = effectivePlanOfAccount(tx, project.account_id, deps.clock.now())
        requireReplicaCapacity(plan, Math.max(plain.replicas ?? 1, autoscaling?.max ?? 1))
        updateProject(tx, project.id, {
          ...plain,
          ...(watch_paths && { watch_paths: formatWatchPaths(watch_paths) }),
          ...(public_ports && { public_ports: formatPublicPorts(public_ports) }),
          ...(tracing === undefined ? {} : { tracing: tracing ? (1 as const) : (0 as const) }),
          ...(sticky_sessions === undefined ? {} : { sticky_sessions: sticky_sessions ? (1 as const) : (0 as const) }),
          ...(autoscaling === undefined ? {} : { autoscaling: toAutoscalingColumn(autoscaling) }),
          ...(node_labels && { node_labels: JSON.stringify([...new Set(node_labels)]) }),
          ...(apps && { apps: JSON.stringify([...new Set(apps)]) }),
          ...(cpu_limit === undefined ? {} : { cpu_limit: cpu_limit === null ? null : Math.min(cpu_limit, deps.cpus) }),
          updated_at: isoTime(deps.clock.now()),
        })
        tx.publish({ type: 'project_changed', id: project.id })
        return present(findProject(tx, project.id) ?? project)
      })
    },

    async listScalingDecisions({ project }) {
      const rows = await deps.store.db.read((tx) => listScalingDecisions(tx, project.id))
      return { decisions: rows.map(({ seq: _seq, project_id: _project, ...row }) => ({ ...row, message: explainScaling(row) })) }
    },
  }
}

const presentProjectSettings = ({
  health_path,
  health_timeout_s,
  cpu_limit,
  preview_volumes,
  watch_paths,
  public_ports,
  apps,
  tracing,
  replicas,
  autoscaling,
  sticky_sessions,
  node_labels,
}: ProjectRow): ProjectSettings => ({
  health_path,
  health_timeout_s,
  cpu_limit,
  preview_volumes,
  watch_paths: parseWatchPaths(watch_paths),
  public_ports: parsePublicPorts(public_ports),
  apps: parseApps(apps),
  tracing: tracing === 1,
  replicas,
  autoscaling: parseAutoscaling(autoscaling),
  sticky_sessions: sticky_sessions === 1,
  node_labels: parseNodeLabels(node_labels),
})
