import { fileSettings } from '../../contract/homeport-yaml.ts'
import type { ProjectConfig } from '../../contract/project-config.ts'
import type { SourceFolder } from '../source-folder.ts'
import { ConfigLog, type Position } from './config-failure.ts'
import { explainServices, finishServices } from './finish-config.ts'
import { createDraft, type ConfigContext, type ServiceDraft } from './service-draft.ts'
import { inspectPath, resolveSourcePath } from './source-paths.ts'
import { quote, type YamlMap, type YamlNode } from './yaml-tree.ts'

/**
 * Files of other platforms. Parts without a meaning here are notes, not problems, because the file was written for a platform that still reads it.
 */
export interface PlatformFile extends ConfigContext {
  file: string
  services: ServiceDraft[]
  settings: ProjectConfig['settings']
}

export const openPlatformFile = (file: string, source: SourceFolder): PlatformFile => ({
  file,
  source,
  log: new ConfigLog(file),
  volumes: new Set(),
  required_variables: new Set(),
  services: [],
  settings: {},
})

/** Adds a service that is built from the source. */
export function addService(name: string, at: Position, context: PlatformFile): ServiceDraft {
  const draft = createDraft(name, at)
  draft.speaks_http = false
  context.services.push(draft)
  return draft
}

/** The name of a process as the name of a service; null when no valid character is left. */
export function toServiceName(text: string): string | null {
  const name = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replace(/^[-_]+/, '')
    .slice(0, 40)
  return name === '' ? null : name
}

export function finishPlatformFile(context: PlatformFile, main: ServiceDraft | null, release: ProjectConfig['release'] = null): ProjectConfig {
  const { file, log } = context
  if (main) main.wants_public ??= true
  const services = finishServices(context.services, main, context)
  log.throwProblems()
  const result = { services, main: main?.config.name ?? null, release }
  return {
    file,
    ...result,
    managed: null,
    required_variables: [...context.required_variables],
    settings: context.settings,
    lines: {},
    explanation: [
      `Services are read from ${file}`,
      ...explainServices(result),
      ...Object.keys(context.settings).map((name) => `${name} is set by ${file}`),
      ...log.notes,
    ],
  }
}

/** Sets a setting of the project; a value that the API would refuse is a note. */
export function setSetting(name: keyof typeof fileSettings, value: string | number | boolean, at: Position, context: PlatformFile): void {
  const parsed = fileSettings[name].safeParse(value)
  if (parsed.success) context.settings[name] = value
  else context.log.note(at, `${quote(String(value))} has no effect as ${name}: ${parsed.error.issues[0]?.message ?? 'it is not valid'}`)
}

/** The text of a value; a number counts as text, an empty text as none. */
export function textOf(node: YamlNode | undefined): string | undefined {
  return node?.kind === 'scalar' && node.value !== null && node.text.trim() !== '' ? node.text : undefined
}

export function numberOf(node: YamlNode | undefined, min: number, max: number): number | undefined {
  const value = Number(textOf(node) ?? NaN)
  return Number.isInteger(value) && value >= min && value <= max ? value : undefined
}

/** The strings in a list, or the single string. */
export function textsOf(node: YamlNode | undefined): string[] {
  return (node?.kind === 'list' ? node.items : node ? [node] : []).flatMap((item) => textOf(item) ?? [])
}

export function mapOf(node: YamlNode | undefined): YamlMap | undefined {
  return node?.kind === 'map' ? node : undefined
}

/** The maps in a list of tables, or the single table. */
export function mapsOf(node: YamlNode | undefined): YamlMap[] {
  return (node?.kind === 'list' ? node.items : node ? [node] : []).flatMap((item) => mapOf(item) ?? [])
}

/** Notes every key that is not read. `silent` keys do not affect how an app runs. */
export function noteOthers(map: YamlMap, read: readonly string[], silent: readonly string[], context: PlatformFile, label = ''): void {
  for (const { key, at, value } of map.entries.values()) {
    const isEmpty = (value.kind === 'scalar' && value.value === null) || (value.kind === 'list' && value.items.length === 0)
    if (!read.includes(key) && !silent.includes(key) && !isEmpty) context.log.note(at, `${label}${quote(key)} has no effect here`)
  }
}

/** Adds variables that apply unless the project sets them. */
export function addDefaultVariables(drafts: readonly ServiceDraft[], name: string, value: string): void {
  for (const { config } of drafts) config.environment_templates[name] = [{ variable: name, operator: '-', word: value === '' ? [] : [value] }]
}

/** The Dockerfile that a file names; null, and a note, if it is not in the source. */
export async function findNamedDockerfile(path: string, at: Position, context: PlatformFile): Promise<string | null> {
  const resolved = resolveSourcePath(path.replace(/^\.?\//, ''), at, 'Dockerfile', context)
  if (resolved === undefined) return null
  if ((await inspectPath(resolved, at, 'Dockerfile', context)) === 'file') return resolved
  context.log.note(at, `${quote(path)} has no effect, because the source has no such file`)
  return null
}
