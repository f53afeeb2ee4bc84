import type { EnvVar } from '../../../server/contract/env-vars.ts'
import { limits } from '../../../server/contract/limits.ts'
import type { Project } from '../../../server/contract/projects.ts'
import type { CallInput } from '../../api/client.ts'

/** `here` is where the source is, `there` where it is to be built. */
export type Fate = 'same' | 'differs' | 'only_here' | 'only_there'

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
export type Settings = Pick<Project, SettingName>
type Changes = NonNullable<CallInput<'updateProject'>['body']>

/** What a new project begins with. */
const defaults: Omit<Settings, 'name'> = {
  root_directory: '.',
  node_version: 'auto',
  install_command: 'auto',
  build_command: 'auto',
  memory_limit_mb: limits.memory_mb.default,
  always_warm: false,
  caching_enabled: true,
}

export interface SettingRow {
  what: SettingName
  here: Setting
  there: Setting
  /** There is no project there yet: `there` is what it would begin with. */
  is_default: boolean
  fate: 'same' | 'differs'
}

/** Every setting that goes along, here and there. `there` null: a project that is yet to be made, under the same name. */
export function compareSettings(here: Settings, there: Settings | null): SettingRow[] {
  const other = there ?? { ...defaults, name: here.name }
  return settingNames.map((what) => ({
    what,
    here: here[what],
    there: other[what],
    is_default: there === null,
    fate: here[what] === other[what] ? 'same' : 'differs',
  }))
}

/** The change that makes there what is here, of the rows that were chosen. */
export function changesOf(rows: readonly SettingRow[], chosen: ReadonlySet<SettingName>): Changes {
  return Object.fromEntries(rows.filter(({ what, fate }) => fate === 'differs' && chosen.has(what)).map(({ what, here }) => [what, here]))
}

export type VariableName = Pick<EnvVar, 'key' | 'environment'>

export interface VariableRow {
  what: string
  here: EnvVar['environment'][]
  there: EnvVar['environment'][]
  fate: Fate
}

/** Every key that either side has, with the environments that it is for. Values are not looked at, and are not told apart. */
export function compareVariables(here: readonly VariableName[], there: readonly VariableName[]): VariableRow[] {
  const [ours, theirs] = [byKey(here), byKey(there)]
  return [...new Set([...ours.keys(), ...theirs.keys()])].toSorted(byName).map((what) => {
    const [mine, other] = [ours.get(what) ?? [], theirs.get(what) ?? []]
    const fate = other.length === 0 ? 'only_here' : mine.length === 0 ? 'only_there' : mine.join() === other.join() ? 'same' : 'differs'
    return { what, here: mine, there: other, fate }
  })
}

const order = [null, 'production', 'preview'] as const

function byKey(names: readonly VariableName[]): Map<string, EnvVar['environment'][]> {
  const found = new Map<string, Set<EnvVar['environment']>>()
  for (const { key, environment } of names) found.set(key, (found.get(key) ?? new Set()).add(environment))
  return new Map([...found].map(([key, has]) => [key, order.filter((environment) => has.has(environment))]))
}

function byName(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
