import type { VariableScope } from '../../api/promotion-sides.ts'
import type { EnvVar } from '../../../server/contract/env-vars.ts'
import { limits } from '../../../server/contract/limits.ts'
import type { Project } from '../../../server/contract/projects.ts'
import type { CallInput } from '../../../server/client/operation-types.ts'

/** `only_here`: only at the source, `only_there`: only at the target. */
export type Difference = 'same' | 'differs' | 'only_here' | 'only_there'

/** The settings that a promotion copies: build and runtime settings. The repository stays that of each project. */
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
type Changes = NonNullable<CallInput<'updateProject'>['body']>

/** Defaults of a new project. */
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
  /** The target project does not exist yet; `target` holds the defaults. */
  is_default: boolean
  difference: 'same' | 'differs'
}

/** All copied settings of source and target. `target` null: a project to be created, with the same name. */
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

/** The update of the target for the selected rows. */
export function selectedChanges(rows: readonly SettingComparison[], chosen: ReadonlySet<SettingName>): Changes {
  return Object.fromEntries(
    rows.filter(({ setting, difference }) => difference === 'differs' && chosen.has(setting)).map(({ setting, source }) => [setting, source]),
  )
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
