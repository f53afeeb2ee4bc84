import type { EnvVar } from '../../../server/contract/env-vars.ts'
import { limits } from '../../../server/contract/limits.ts'
import type { Project } from '../../../server/contract/projects.ts'
import type { ApiRequest } from '../../api/api-client.ts'

/** `only_here`: at the source alone, `only_there`: at the target alone. */
export type Difference = 'same' | 'differs' | 'only_here' | 'only_there'

/** The settings that go along: what the source is built and run with. Where the source comes from stays each project's own. */
const settingNames = [
  'name',
  'root_directory',
  'node_version',
  'install_command',
  'build_command',
  'memory_limit_mb',
  'always_warm',
  'caching_enabled',
] as const
export type SettingName = (typeof settingNames)[number]
type Setting = Project[SettingName]
export type PromotedSettings = Pick<Project, SettingName>
type Changes = NonNullable<ApiRequest<'updateProject'>['body']>

/** What a new project begins with. */
const defaults: Omit<PromotedSettings, 'name'> = {
  root_directory: '.',
  node_version: 'auto',
  install_command: 'auto',
  build_command: 'auto',
  memory_limit_mb: limits.memory_mb.default,
  always_warm: false,
  caching_enabled: true,
}

export interface SettingComparison {
  setting: SettingName
  source: Setting
  target: Setting
  /** There is no project there yet: `target` is what it would begin with. */
  is_default: boolean
  difference: 'same' | 'differs'
}

/** Every setting that goes along, of the source and of the target. `target` null: a project that is yet to be made, under the same name. */
export function compareSettings(source: PromotedSettings, target: PromotedSettings | null): SettingComparison[] {
  const other = target ?? { ...defaults, name: source.name }
  return settingNames.map((setting) => ({
    setting,
    source: source[setting],
    target: other[setting],
    is_default: target === null,
    difference: source[setting] === other[setting] ? 'same' : 'differs',
  }))
}

/** The change that makes there what is here, of the rows that were chosen. */
export function selectedChanges(rows: readonly SettingComparison[], chosen: ReadonlySet<SettingName>): Changes {
  return Object.fromEntries(
    rows.filter(({ setting, difference }) => difference === 'differs' && chosen.has(setting)).map(({ setting, source }) => [setting, source]),
  )
}

export type VariableScope = Pick<EnvVar, 'key' | 'environment'>

export interface VariableComparison {
  key: string
  source: EnvVar['environment'][]
  target: EnvVar['environment'][]
  difference: Difference
}

/** Every key that either side has, with the environments that it is for. Values are not looked at, and are not told apart. */
export function compareVariables(source: readonly VariableScope[], target: readonly VariableScope[]): VariableComparison[] {
  const [ours, theirs] = [groupByKey(source), groupByKey(target)]
  return [...new Set([...ours.keys(), ...theirs.keys()])].toSorted(compareNames).map((key) => {
    const [mine, other] = [ours.get(key) ?? [], theirs.get(key) ?? []]
    const difference = other.length === 0 ? 'only_here' : mine.length === 0 ? 'only_there' : mine.join() === other.join() ? 'same' : 'differs'
    return { key, source: mine, target: other, difference }
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
