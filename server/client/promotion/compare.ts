import type { EnvVar } from '../../contract/env-vars.ts'
import { limits } from '../../contract/limits.ts'
import type { ProjectSettings } from '../../contract/project-settings.ts'
import type { Project } from '../../contract/projects.ts'
import type { CallInput } from '../operation-types.ts'
import type { WatchingSettings } from './inventory.ts'
import type { PromotionSide, VariableScope } from './sides.ts'

/** `only_here`: only at the source, `only_there`: only at the target. */
export type Difference = 'same' | 'differs' | 'only_here' | 'only_there'

/** The settings that a promotion copies, by the operation that changes them. The repository stays that of each project. */
const settingNames = {
  updateProject: ['name', 'root_directory', 'node_version', 'install_command', 'build_command', 'memory_limit_mb', 'always_warm', 'caching_enabled'],
  updateProjectSettings: [
    'health_path',
    'health_timeout_s',
    'cpu_limit',
    'preview_volumes',
    'watch_paths',
    'public_ports',
    'apps',
    'tracing',
    'replicas',
    'autoscaling',
    'sticky_sessions',
    'node_labels',
  ],
  updateWatching: ['deploys_pushes', 'previews', 'preview_databases', 'pull_requests', 'pull_request_secrets'],
} as const
type SettingOperation = keyof typeof settingNames
const settingOperations = Object.keys(settingNames) as SettingOperation[]

export type SettingName = (typeof settingNames)[SettingOperation][number]
/** The settings of a project, without those that its instance does not have. */
export type PromotedSettings = Pick<Project, (typeof settingNames)['updateProject'][number]> & Partial<ProjectSettings & WatchingSettings>
type Setting = NonNullable<PromotedSettings[SettingName]> | null

/** Changes by the operation that makes them. An operation without changes is missing. */
export interface SettingChanges {
  updateProject?: NonNullable<CallInput<'updateProject'>['body']>
  updateProjectSettings?: NonNullable<CallInput<'updateProjectSettings'>['body']>
  updateWatching?: NonNullable<CallInput<'updateWatching'>['body']>
}

/** Defaults of a new project. */
const defaults: Required<Omit<PromotedSettings, 'name'>> = {
  root_directory: '.',
  node_version: 'auto',
  install_command: 'auto',
  build_command: 'auto',
  memory_limit_mb: limits.memory_mb.default,
  always_warm: false,
  caching_enabled: true,
  health_path: limits.health_path.default,
  health_timeout_s: limits.health_timeout_s.default,
  cpu_limit: null,
  preview_volumes: 'empty',
  watch_paths: [],
  public_ports: [],
  apps: [],
  tracing: true,
  replicas: limits.replicas.default,
  autoscaling: null,
  sticky_sessions: false,
  node_labels: [],
  deploys_pushes: true,
  previews: true,
  preview_databases: false,
  pull_requests: false,
  pull_request_secrets: false,
}

export interface SettingComparison {
  setting: SettingName
  source: Setting
  target: Setting
  /** The target project does not exist yet; `target` holds the defaults. */
  is_default: boolean
  difference: 'same' | 'differs'
}

/** All settings of a project. */
export const readPromotedSettings = (project: Project, { inventory }: Pick<PromotionSide, 'inventory'>): PromotedSettings => ({
  ...project,
  ...inventory.settings,
  ...inventory.watching,
})

/** All settings that both sides have. `target` null: a project to be created, with the same name. */
export function compareSettings(source: PromotedSettings, target: PromotedSettings | null): SettingComparison[] {
  const other: PromotedSettings = target ?? { ...defaults, name: source.name }
  return settingOperations
    .flatMap((operation): readonly SettingName[] => settingNames[operation])
    .flatMap((setting) => {
      const [ours, theirs] = [source[setting], other[setting]]
      if (ours === undefined || theirs === undefined) return []
      const difference = JSON.stringify(ours) === JSON.stringify(theirs) ? 'same' : 'differs'
      return [{ setting, source: ours, target: theirs, is_default: target === null, difference }]
    })
}

/** Settings of the source that the target instance does not have, and that differ from those of a new project. */
export function listMissingSettings(source: PromotedSettings, target: PromotedSettings): SettingName[] {
  return compareSettings(source, null)
    .filter(({ setting, difference }) => difference === 'differs' && target[setting] === undefined)
    .map(({ setting }) => setting)
}

/** The changes of the target for the selected rows. */
export const selectedChanges = (rows: readonly SettingComparison[], chosen: ReadonlySet<SettingName>): SettingChanges =>
  groupByOperation(rows.filter(({ setting, difference }) => difference === 'differs' && chosen.has(setting)).map((row) => [row.setting, row.source]))

/** The changes that restore the settings of the target. */
export const reversedChanges = (rows: readonly SettingComparison[]): SettingChanges =>
  groupByOperation(rows.filter(({ difference }) => difference === 'differs').map((row) => [row.setting, row.target]))

function groupByOperation(entries: readonly [SettingName, Setting][]): SettingChanges {
  const groups = settingOperations.map((operation) => {
    const names: readonly SettingName[] = settingNames[operation]
    return [operation, entries.filter(([setting]) => names.includes(setting))] as const
  })
  return Object.fromEntries(groups.filter(([, own]) => own.length > 0).map(([operation, own]) => [operation, Object.fromEntries(own)]))
}

export interface VariableComparison {
  key: string
  source: EnvVar['environment'][]
  target: EnvVar['environment'][]
  difference: Difference
  /** A value at the source cannot be read, so the variable cannot be copied. */
  is_write_only?: true
}

/** All variable keys of both projects with their environments. Values are not read or compared. */
export function compareVariables(source: readonly VariableScope[], target: readonly VariableScope[]): VariableComparison[] {
  const [ours, theirs] = [groupByKey(source), groupByKey(target)]
  return [...new Set([...ours.keys(), ...theirs.keys()])].toSorted(compareNames).map((key) => {
    const [mine, other] = [ours.get(key) ?? [], theirs.get(key) ?? []]
    const difference = other.length === 0 ? 'only_here' : mine.length === 0 ? 'only_there' : mine.join() === other.join() ? 'same' : 'differs'
    const is_write_only = source.some((one) => one.key === key && one.is_write_only === true)
    return { key, source: mine, target: other, difference, ...(is_write_only && { is_write_only }) }
  })
}

const environmentOrder = [null, 'production', 'preview'] as const

function groupByKey(names: readonly VariableScope[]): Map<string, EnvVar['environment'][]> {
  const found = new Map<string, Set<EnvVar['environment']>>()
  for (const { key, environment } of names) found.set(key, (found.get(key) ?? new Set()).add(environment))
  return new Map([...found].map(([key, has]) => [key, environmentOrder.filter((environment) => has.has(environment))]))
}

function compareNames(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
