import type { ProjectSettings } from '../contract/project-settings.ts'
import { isoTime } from '../lib/clock.ts'
import { formatPublicPorts, parsePublicPorts } from '../lib/public-ports.ts'
import { parseApps } from '../lib/project-apps.ts'
import { formatWatchPaths, parseWatchPaths } from '../lib/watch-paths.ts'
import { findProject, updateProject } from '../store/projects.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'

type ProjectSettingsHandlers = Pick<OperationHandlers, 'getProjectSettings' | 'updateProjectSettings'>

export function createProjectSettingsHandlers(deps: FeatureDeps): ProjectSettingsHandlers {
  const present = (row: ProjectRow) => ({ settings: presentProjectSettings(row), cpus: deps.cpus })
  return {
    async getProjectSettings({ project }) {
      return present(project)
    },

    async updateProjectSettings({ project }, { body }) {
      const { cpu_limit, watch_paths, public_ports, apps, tracing, sticky_sessions, ...plain } = body
      return deps.store.db.write((tx) => {
        updateProject(tx, project.id, {
          ...plain,
          ...(watch_paths && { watch_paths: formatWatchPaths(watch_paths) }),
          ...(public_ports && { public_ports: formatPublicPorts(public_ports) }),
          ...(tracing === undefined ? {} : { tracing: tracing ? (1 as const) : (0 as const) }),
          ...(sticky_sessions === undefined ? {} : { sticky_sessions: sticky_sessions ? (1 as const) : (0 as const) }),
          ...(apps && { apps: JSON.stringify([...new Set(apps)]) }),
          ...(cpu_limit === undefined ? {} : { cpu_limit: cpu_limit === null ? null : Math.min(cpu_limit, deps.cpus) }),
          updated_at: isoTime(deps.clock.now()),
        })
        tx.publish({ type: 'project_changed', id: project.id })
        return present(findProject(tx, project.id) ?? project)
      })
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
  sticky_sessions,
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
  sticky_sessions: sticky_sessions === 1,
})
