import { parse as parseYaml } from 'yaml'
import { DetectFailure } from './detect-failure.ts'
import { joinInside, type SourceFolder } from './source-folder.ts'

/** The fields of package.json that builds use. A field of the wrong type is treated as missing. */
export interface Manifest {
  name: string | null
  main: string | null
  type: 'module' | 'commonjs'
  scripts: Record<string, string>
  dependencies: Record<string, string>
  /** `dependencies`, `devDependencies` and `optionalDependencies` together. */
  all_dependencies: Record<string, string>
  engines_node: string | null
  package_manager: string | null
  /** Name in `devEngines.packageManager`: npm refuses to run scripts when this names another package manager. */
  dev_manager: string | null
  workspaces: string[] | null
}

export async function readManifest(source: SourceFolder, directory: string): Promise<Manifest | null> {
  const path = joinInside(directory, 'package.json')
  const text = await source.read(path)
  if (text === null) return null
  const json = parseJsonObject(text, path)
  if (json === null)
    throw new DetectFailure(
      `${path} is not a JSON object.`,
      'A package.json starts with { and lists the app’s packages and scripts. Fix the file, then deploy again.',
    )
  const dependencies = toTextRecord(json.dependencies)
  const workspaces = Array.isArray(json.workspaces) ? json.workspaces : toRecord(json.workspaces).packages
  return {
    name: toText(json.name),
    main: toText(json.main),
    type: json.type === 'module' ? 'module' : 'commonjs',
    scripts: toTextRecord(json.scripts),
    dependencies,
    all_dependencies: { ...toTextRecord(json.optionalDependencies), ...toTextRecord(json.devDependencies), ...dependencies },
    engines_node: toText(toRecord(json.engines).node),
    package_manager: toText(json.packageManager),
    dev_manager: toText(toRecord(toRecord(json.devEngines).packageManager).name),
    workspaces: Array.isArray(workspaces) ? workspaces.filter((entry): entry is string => typeof entry === 'string') : null,
  }
}

/** null: the text is valid JSON but not an object. */
function parseJsonObject(text: string, path: string): Record<string, unknown> | null {
  try {
    const json: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
    return typeof json === 'object' && json !== null && !Array.isArray(json) ? { ...json } : null
  } catch (error) {
    throw new DetectFailure(
      `${path} is not valid JSON: ${error instanceof Error ? error.message : 'unreadable'}.`,
      'Fix the file, then deploy again.',
      error,
    )
  }
}

/** A YAML file of the source as an object; null when the file does not exist. */
export async function readYaml(source: SourceFolder, path: string): Promise<Record<string, unknown> | null> {
  const text = await source.read(path)
  if (text === null) return null
  try {
    return toRecord(parseYaml(text))
  } catch (error) {
    throw new DetectFailure(
      `${path} is not valid YAML: ${error instanceof Error ? error.message.split('\n')[0] : 'unreadable'}`,
      'Fix the file, then deploy again.',
      error,
    )
  }
}

/** An object's fields; empty for anything else. */
export function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

export const toText = (value: unknown): string | null => (typeof value === 'string' && value.trim() !== '' ? value : null)

function toTextRecord(value: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(toRecord(value)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}
