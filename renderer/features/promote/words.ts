import type { EnvVar } from '../../../server/contract/env-vars.ts'
import { plans } from '../../../server/contract/plans.ts'
import { environmentWords } from '../environment/environments.ts'
import type { SettingName, SettingRow } from './compare.ts'
import type { SourceSide, TargetSide } from './look.ts'

export const settingWords: Record<SettingName, string> = {
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
export function settingValue({ what }: SettingRow, value: SettingRow['here']): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (what === 'memory_limit_mb') return `${value} MB`
  if (value === 'auto') return 'found in the source'
  return value === '' ? 'none' : String(value)
}

export function environmentsWords(has: EnvVar['environment'][]): string {
  if (has.length === 0) return 'not there'
  // A variable of both is one thing, one of each is another.
  return has.map(environmentWords).join('; ')
}

/** What does not go along, or will not be as it is here; each one sentence. */
export function warningsOf(source: SourceSide, target: TargetSide, names: { from: string; to: string }): string[] {
  const { project } = target
  const plan = plans[target.plan]
  const said: string[] = []
  if (!project && target.is_full)
    said.push(`The plan ${target.plan} on ${names.to} holds ${plan.projects} projects, and it is full: a new one may be refused.`)
  if (project && target.follows_pushes)
    said.push(
      `${project.name} on ${names.to} follows the branch ${project.repo_branch} of ${project.repo_url ?? 'a repository'}: the next push deploys over this.`,
    )
  if (source.project.always_warm && !plan.always_warm)
    said.push(`The plan ${target.plan} on ${names.to} keeps no app always warm: there it may sleep.`)
  if (source.project.memory_limit_mb > plan.memory_mb)
    said.push(`The plan ${target.plan} on ${names.to} gives at most ${plan.memory_mb} MB of memory; that is what it gets.`)
  if (source.has_database)
    said.push(
      target.has_database
        ? `Each has a database of its own: nothing of the one on ${names.from} goes along.`
        : `The database on ${names.from} does not go along, and there is none on ${names.to}: make one there before the app asks for it.`,
    )
  if (source.domains.length > 0) said.push(`Its domains stay where they are: ${listed(source.domains)}.`)
  if (source.runtime !== null && target.runtime !== null && source.runtime !== target.runtime)
    said.push(
      `It runs ${runtimeWords[source.runtime]} on ${names.from} and ${runtimeWords[target.runtime]} on ${names.to}: Node and system packages may differ.`,
    )
  return said
}

const runtimeWords = { docker: 'in Docker', process: 'as a process' }

const most = 3
function listed(names: string[]): string {
  return names.length > most ? `${names.slice(0, most).join(', ')} and ${names.length - most} more` : names.join(', ')
}
