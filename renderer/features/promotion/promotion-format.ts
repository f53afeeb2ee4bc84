import { describeAutoscaling } from '../../../server/contract/labels.ts'
import { runtimes } from '../../../server/contract/runtimes.ts'
import type { SourceProject, TargetProject } from '../../../server/client/promotion/sides.ts'
import type { EnvVar } from '../../../server/contract/env-vars.ts'
import { plans } from '../../../server/contract/plans.ts'
import { environmentLabel } from '../../lib/environments.ts'
import type { SettingComparison, SettingName } from '../../../server/client/promotion/compare.ts'

export const settingLabels: Record<SettingName, string> = {
  name: 'Name',
  root_directory: 'Root directory',
  node_version: 'Node version',
  install_command: 'Install command',
  build_command: 'Build command',
  memory_limit_mb: 'Memory',
  always_warm: 'Always warm',
  caching_enabled: 'Edge cache',
  health_path: 'Health check path',
  health_timeout_s: 'Health check timeout',
  cpu_limit: 'CPU cores',
  preview_volumes: 'Volumes of previews',
  watch_paths: 'Watch paths',
  public_ports: 'Additional ports',
  apps: 'Apps',
  tracing: 'Traces',
  replicas: 'Replicas',
  autoscaling: 'Autoscaling',
  sticky_sessions: 'Sticky sessions',
  node_labels: 'Node labels',
  deploys_pushes: 'Deploy pushes',
  previews: 'Previews of branches',
  preview_databases: 'Databases of previews',
  pull_requests: 'Previews of pull requests',
  pull_request_secrets: 'Secrets for pull requests',
}

/** A setting's value, as its page shows it. */
export function formatSetting({ setting }: SettingComparison, value: SettingComparison['source']): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (setting === 'memory_limit_mb') return `${String(value)} MB`
  if (setting === 'health_timeout_s') return `${String(value)} s`
  if (setting === 'preview_volumes') return value === 'snapshot' ? 'a snapshot of production' : 'empty'
  if (Array.isArray(value)) return value.join(', ') || (setting === 'watch_paths' ? 'all files' : 'none')
  if (setting === 'autoscaling' && value === null) return 'off'
  if (value === null) return 'default'
  if (typeof value === 'object') return describeAutoscaling(value)
  if (value === 'auto') return 'detected'
  return value === '' ? 'none' : String(value)
}

export function formatEnvironments(has: EnvVar['environment'][]): string {
  if (has.length === 0) return 'not set'
  // A variable for both environments differs from one variable for each.
  return has.map(environmentLabel).join('; ')
}

/** Warnings about what a promotion does not copy or changes. */
export function promotionWarnings(source: SourceProject, target: TargetProject, names: { from: string; to: string }): string[] {
  const { project } = target
  const plan = plans[target.plan]
  const warnings: string[] = []
  if (!project && target.is_full)
    warnings.push(`The ${target.plan} plan on ${names.to} allows ${plan.projects} projects and the limit is reached: creating another may fail.`)
  if (project && target.follows_pushes)
    warnings.push(
      `${project.name} on ${names.to} follows the branch ${project.repo_branch} of ${project.repo_url ?? 'a repository'}: the next push replaces this deployment.`,
    )
  if (source.project.always_warm && !plan.always_warm)
    warnings.push(`The ${target.plan} plan on ${names.to} does not include always warm: the app may sleep there.`)
  if (source.project.memory_limit_mb > plan.memory_mb)
    warnings.push(`The ${target.plan} plan on ${names.to} allows at most ${plan.memory_mb} MB of memory, so the app gets that.`)
  if (source.runtime !== null && target.runtime !== null && source.runtime !== target.runtime)
    warnings.push(
      `It runs ${runtimes[source.runtime].placement} on ${names.from} and ${runtimes[target.runtime].placement} on ${names.to}: Node and system packages may differ.`,
    )
  return warnings
}
