import type { EnvVar } from '../../../server/contract/env-vars.ts'
import { plans } from '../../../server/contract/plans.ts'
import { environmentLabel } from '../environment/environments.ts'
import type { SettingName, SettingComparison } from './compare.ts'
import type { SourceProject, TargetProject } from './load-projects.ts'

export const settingLabels: Record<SettingName, string> = {
  name: 'Name',
  root_directory: 'Root directory',
  node_version: 'Node version',
  install_command: 'Install command',
  build_command: 'Build command',
  memory_limit_mb: 'Memory',
  always_warm: 'Always warm',
  caching_enabled: 'Edge cache',
}

/** A setting as its page would say it. */
export function formatSetting({ setting }: SettingComparison, value: SettingComparison['source']): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (setting === 'memory_limit_mb') return `${value} MB`
  if (value === 'auto') return 'found in the source'
  return value === '' ? 'none' : String(value)
}

export function formatEnvironments(has: EnvVar['environment'][]): string {
  if (has.length === 0) return 'not there'
  // A variable of both is one thing, one of each is another.
  return has.map(environmentLabel).join('; ')
}

/** What does not go along, or will not be as it is here; each one sentence. */
export function promotionWarnings(source: SourceProject, target: TargetProject, names: { from: string; to: string }): string[] {
  const { project } = target
  const plan = plans[target.plan]
  const warnings: string[] = []
  if (!project && target.is_full)
    warnings.push(`The plan ${target.plan} on ${names.to} holds ${plan.projects} projects, and it is full: a new one may be refused.`)
  if (project && target.follows_pushes)
    warnings.push(
      `${project.name} on ${names.to} follows the branch ${project.repo_branch} of ${project.repo_url ?? 'a repository'}: the next push deploys over this.`,
    )
  if (source.project.always_warm && !plan.always_warm)
    warnings.push(`The plan ${target.plan} on ${names.to} keeps no app always warm: there it may sleep.`)
  if (source.project.memory_limit_mb > plan.memory_mb)
    warnings.push(`The plan ${target.plan} on ${names.to} gives at most ${plan.memory_mb} MB of memory; that is what it gets.`)
  if (source.has_database)
    warnings.push(
      target.has_database
        ? `Each has a database of its own: nothing of the one on ${names.from} goes along.`
        : `The database on ${names.from} does not go along, and there is none on ${names.to}: make one there before the app asks for it.`,
    )
  if (source.domains.length > 0) warnings.push(`Its domains stay where they are: ${formatList(source.domains)}.`)
  if (source.runtime !== null && target.runtime !== null && source.runtime !== target.runtime)
    warnings.push(
      `It runs ${runtimeLabels[source.runtime]} on ${names.from} and ${runtimeLabels[target.runtime]} on ${names.to}: Node and system packages may differ.`,
    )
  return warnings
}

const runtimeLabels = { docker: 'in Docker', process: 'as a process' }

const maxListed = 3
function formatList(names: string[]): string {
  return names.length > maxListed ? `${names.slice(0, maxListed).join(', ')} and ${names.length - maxListed} more` : names.join(', ')
}
