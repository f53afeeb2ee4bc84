import { autoscaling } from '../../contract/autoscaling.ts'
import { fileSettings, homeportService, homeportYaml, type HomeportYaml } from '../../contract/homeport-yaml.ts'
import type { ProjectConfig } from '../../contract/project-config.ts'
import type { ConfigLog } from './config-failure.ts'
import { explainNearest } from './nearest-name.ts'
import { findPosition, quote, toPlainValue, type YamlNode } from './yaml-tree.ts'

/** Known keys of a map of homeport.yaml, by its path; `*` is any name. */
const keysByPath: [path: string, keys: string[]][] = [
  ['', Object.keys(homeportYaml.shape)],
  ['services.*', Object.keys(homeportService.shape)],
  ['services.*.build', ['context', 'dockerfile', 'target', 'args']],
  ['services.*.healthcheck', ['path', 'test', 'interval', 'timeout', 'retries', 'start_period', 'start_interval', 'disable']],
  ['services.*.autoscaling', Object.keys(autoscaling.shape)],
  ['autoscaling', Object.keys(autoscaling.shape)],
  ['services.*.depends_on.*', ['condition', 'restart', 'required']],
  ['release', ['service', 'command']],
]

/** Settings of the API that a source cannot set, because they name the source, or its owner. */
const outsideSettings = new Set(['name', 'slug', 'repo_url', 'repo_branch'])

/** The common part of the zod issues that are read here. */
interface SchemaIssue {
  code?: string
  path: PropertyKey[]
  message: string
  keys?: string[]
  errors?: SchemaIssue[][]
  issues?: SchemaIssue[]
  expected?: string
}

/** Validates the file against its schema; each problem is logged with its position. null: it has problems. */
export function validateHomeportYaml(root: YamlNode, log: ConfigLog): HomeportYaml | null {
  if (root.kind === 'scalar' && root.value === null) return {}
  if (root.kind !== 'map') {
    log.reject(root.at, 'The file is not a map of keys.', 'Start with services:, as homeport config init does.')
    return null
  }
  const version = root.entries.get('node_version')?.value
  // A version without quotes is a number for YAML.
  if (version?.kind === 'scalar' && typeof version.value === 'number') version.value = version.text
  const parsed = homeportYaml.safeParse(toPlainValue(root))
  if (parsed.success) return parsed.data
  for (const issue of flatten(parsed.error.issues, [])) report(issue, root, log)
  return null
}

/** Replaces an issue of a union by those of the alternative that the author most likely meant. */
function flatten(issues: readonly SchemaIssue[], base: readonly PropertyKey[]): SchemaIssue[] {
  return issues.flatMap((issue) => {
    const path = [...base, ...issue.path]
    if (issue.code !== 'invalid_union') return [{ ...issue, path }]
    const meant = issue.errors?.find((branch) => branch.length > 0 && branch.every((one) => one.path.length > 0 || one.code === 'unrecognized_keys'))
    return meant ? flatten(meant, path) : [{ ...issue, path }]
  })
}

function report({ code, path, message, keys, issues, expected }: SchemaIssue, root: YamlNode, log: ConfigLog): void {
  const label = path.map((part) => (/^\w[\w-]*$/.test(String(part)) ? String(part) : quote(String(part)))).join('.') || 'The file'
  if (code === 'unrecognized_keys') {
    const known = knownKeys(path)
    for (const key of keys ?? []) {
      const at = findPosition(root, [...path, key])
      const name = path.length === 0 ? quote(key) : `${label}: ${quote(key)}`
      if (path.length === 0 && outsideSettings.has(key))
        log.reject(at, `${name} is not set in a file of the source.`, `Remove it. homeport projects set SLUG ${key}=… changes it.`)
      else log.reject(at, `${name} is not a known key.`, explainNearest(key, known))
    }
    return
  }
  const at = findPosition(root, path)
  const reason = code === 'invalid_key' ? (issues?.[0]?.message ?? message) : code === 'invalid_type' && expected ? explainType(expected) : message
  log.reject(at, `${label} is not valid.`, /[.!?]$/.test(reason) ? reason : `${reason}.`)
}

function explainType(expected: string): string {
  const words: Record<string, string> = {
    string: 'Write text, in quotes if it looks like a number.',
    number: 'Write a number.',
    int: 'Write a whole number.',
    boolean: 'Write true or false.',
    array: 'Write a list.',
    object: 'Write a map of keys.',
    record: 'Write a map of names.',
  }
  return words[expected] ?? `Write a value of the kind ${expected}.`
}

function knownKeys(path: readonly PropertyKey[]): string[] {
  for (const [pattern, keys] of keysByPath) {
    const parts = pattern === '' ? [] : pattern.split('.')
    if (parts.length === path.length && parts.every((part, index) => part === '*' || part === path[index])) return keys
  }
  return []
}

export function pickSettings(value: HomeportYaml): ProjectConfig['settings'] {
  const settings: ProjectConfig['settings'] = {}
  for (const key of Object.keys(fileSettings) as (keyof typeof fileSettings)[]) {
    const setting = value[key]
    // null is the default of a setting.
    if (setting !== undefined && setting !== null) settings[key] = setting
  }
  return settings
}
