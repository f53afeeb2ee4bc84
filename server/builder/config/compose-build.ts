import { imagePattern, maxImage } from '../../contract/homeport-yaml.ts'
import type { Position } from './config-failure.ts'
import { buildKeys, buildRules, checkKeys } from './compose-keys.ts'
import { readNamedValues } from './environment.ts'
import { readTemplate, readText, valueOf, withDefaults, type ValueContext } from './node-values.ts'
import { asPlainText } from './interpolation.ts'
import type { ServiceDraft } from './service-draft.ts'
import { inspectPath, resolveSourcePath } from './source-paths.ts'
import { quote, type YamlMap, type YamlNode } from './yaml-tree.ts'

/** Reads `build` and `image`: a service that is built, or a prebuilt image. */
export async function readComposeSource(draft: ServiceDraft, service: YamlMap, label: string, context: ValueContext): Promise<void> {
  const build = service.entries.get('build')
  const image = service.entries.get('image')
  // With both, `image` only names the result of the build.
  if (build && !(build.value.kind === 'scalar' && build.value.value === null)) {
    await readBuild(draft, build.value, build.at, `${label}.build`, context)
  } else if (image) {
    const name = readText(image.value, `${label}.image`, context)
    if (name === undefined) return
    if (name.length <= maxImage && imagePattern.test(name)) draft.config.source = { kind: 'image', image: name, files: [] }
    else context.log.reject(image.at, `${label}.image: ${quote(name)} is not an image.`, 'Write it as NAME:TAG, such as redis:7.')
  } else context.log.reject(draft.at, `${label} has neither build nor image.`, 'Add build: . for the source, or image for a prebuilt image.')
}

async function readBuild(draft: ServiceDraft, node: YamlNode, at: Position, label: string, context: ValueContext): Promise<void> {
  const { log } = context
  if (node.kind === 'list') {
    log.reject(at, `${label} is neither a folder nor a map.`, 'Write build: ., or a map with context and dockerfile.')
    return
  }
  if (node.kind === 'map') checkKeys(node, label, buildKeys, buildRules, context)
  const folder = readText(node.kind === 'map' ? valueOf(node, 'context') : node, label, context) ?? '.'
  if (/^[\w+.-]+:\/\/|^git@|^github\.com\//i.test(folder)) {
    log.reject(at, `${label}: ${quote(folder)} is fetched from elsewhere.`, 'Build from a folder of the source, or use a prebuilt image.')
    return
  }
  const directory = resolveSourcePath(folder, at, label, context)
  if (directory === undefined) return
  const kind = await inspectPath(directory, at, label, context)
  if (kind === undefined) return
  if (kind !== 'folder') {
    log.reject(at, `${label}: the source has no folder ${quote(directory)}.`, 'Name a folder of the source, relative to its root.')
    return
  }
  let dockerfile: string | null = null
  let target: string | null = null
  let args: Record<string, string> = {}
  if (node.kind === 'map') {
    const network = readText(valueOf(node, 'network'), `${label}.network`, context)
    if (network !== undefined && network !== 'default')
      log.reject(node.entries.get('network')!.at, `${label}.network: ${quote(network)} is not the network of builds.`, 'Remove the line.')
    const file = readText(valueOf(node, 'dockerfile'), `${label}.dockerfile`, context)
    if (file !== undefined) dockerfile = (await findDockerfile(file, directory, node.entries.get('dockerfile')!.at, label, context)) ?? null
    target = readText(valueOf(node, 'target'), `${label}.target`, context) ?? null
    args = readArguments(valueOf(node, 'args'), `${label}.args`, context)
  }
  draft.config.source = { kind: 'build', directory, dockerfile, target, arguments: args, files: [] }
}

async function findDockerfile(file: string, directory: string, at: Position, label: string, context: ValueContext): Promise<string | undefined> {
  const path = resolveSourcePath(file, at, `${label}.dockerfile`, context, directory)
  if (path === undefined) return undefined
  if ((await inspectPath(path, at, `${label}.dockerfile`, context)) !== 'missing') return path
  context.log.reject(at, `${label}.dockerfile: the source has no file ${quote(path)}.`, 'Name a Dockerfile, relative to the folder of the build.')
  return undefined
}

/** An argument without a value is left out, so that the Dockerfile's own default holds. */
function readArguments(node: YamlNode | undefined, label: string, context: ValueContext): Record<string, string> {
  const args: Record<string, string> = {}
  for (const { name, value, at } of node === undefined ? [] : readNamedValues(node, context, label)) {
    const template =
      value === null ? (context.defaults.has(name) ? [context.defaults.get(name) ?? ''] : null) : readTemplate(value, at, label, context)
    const text = template ? asPlainText(withDefaults(template)) : null
    if (!/^[A-Za-z_]\w*$/.test(name)) context.log.reject(at, `${label}: ${quote(name)} is not a name.`, 'Use letters, digits and underscores.')
    else if (text !== null) args[name] = text
    else context.log.note(at, `${label}: ${name} has no value in the source, so the Dockerfile’s own default applies.`)
  }
  return args
}
