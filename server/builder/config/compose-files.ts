import { checkKeys } from './compose-keys.ts'
import { readEntries, readItems, readText, valueOf, type ValueContext } from './node-values.ts'
import type { ServiceDraft } from './service-draft.ts'
import { inspectPath, resolveSourcePath } from './source-paths.ts'
import { quote, type YamlMap, type YamlNode } from './yaml-tree.ts'

type FileKind = 'configs' | 'secrets'

/** The configs and secrets of a file that are files of its source, by kind and name. */
export type ComposeFiles = Record<FileKind, Map<string, string | null>>

const fileHint = 'Use file: with a file of the source, or a variable of the project.'

/** Reads the top-level `configs` and `secrets`. One with a problem is known by its name, so that its users are not problems as well. */
export async function readComposeFiles(root: YamlMap, context: ValueContext): Promise<ComposeFiles> {
  const files: ComposeFiles = { configs: new Map(), secrets: new Map() }
  for (const kind of ['configs', 'secrets'] as const) {
    for (const { key, at, value } of readEntries(valueOf(root, kind), kind, context)) {
      const label = `${kind}.${key}`
      files[kind].set(key, null)
      const path = value.kind === 'map' ? readText(valueOf(value, 'file'), `${label}.file`, context) : undefined
      if (value.kind !== 'map' || path === undefined) {
        context.log.reject(at, `${label} is not a file of the source.`, fileHint)
        continue
      }
      checkKeys(value, label, ['file', 'name', 'labels'], {}, context)
      const resolved = resolveSourcePath(path, at, `${label}.file`, context)
      if (resolved === undefined) continue
      const found = await inspectPath(resolved, at, `${label}.file`, context)
      if (found === 'missing')
        context.log.reject(at, `${label}.file: ${quote(path)} is not in the source.`, `Add the file to the repository. ${fileHint}`)
      else if (found !== undefined) files[kind].set(key, resolved)
    }
  }
  return files
}

/** Puts the configs and secrets that a service lists into its image. They are files of the source, which everyone who can read it knows. */
export function addComposeFiles(draft: ServiceDraft, service: YamlMap, files: ComposeFiles, context: ValueContext): void {
  for (const kind of ['configs', 'secrets'] as const) {
    const label = `services.${draft.config.name}.${kind}`
    for (const item of readItems(valueOf(service, kind), label, context)) addFile(draft, kind, item, label, files, context)
  }
}

function addFile({ config }: ServiceDraft, kind: FileKind, item: YamlNode, label: string, files: ComposeFiles, context: ValueContext): void {
  const { log } = context
  if (item.kind === 'map') checkKeys(item, label, ['source', 'target', 'uid', 'gid', 'mode'], {}, context)
  const name = readText(item.kind === 'map' ? valueOf(item, 'source') : item, label, context) ?? ''
  const target = (item.kind === 'map' ? readText(valueOf(item, 'target'), label, context) : undefined) ?? name
  const path = target.startsWith('/') ? target : kind === 'secrets' ? `/run/secrets/${target}` : `/${target}`
  const source = files[kind].get(name)
  if (source === undefined) log.reject(item.at, `${label}: ${quote(name)} is not in the file’s ${kind}.`, `Add it to ${kind}.`)
  else if (!/^(\/[\w.-]+)+$/.test(path) || /\/\.\.?(\/|$)|^\/(proc|sys|dev)\//.test(path))
    log.reject(item.at, `${label}: ${quote(path)} cannot be the path of a file.`, 'Use an absolute path in the container.')
  else if (source === null) return
  else config.source.files.push({ source, path })
}
