import { validateKey } from '../../contract/env-var-rules.ts'
import type { ProjectConfig } from '../../contract/project-config.ts'
import type { SourceFolder } from '../source-folder.ts'
import { addDefaultVariables, addService, finishPlatformFile, mapOf, noteOthers, openPlatformFile, setSetting, textOf } from './platform-file.ts'
import { inspectPath, resolveSourcePath } from './source-paths.ts'
import { parseToml } from './toml-tree.ts'
import { quote } from './yaml-tree.ts'

/** netlify.toml: how the site is built. Its redirects and headers are read from the files _redirects and _headers of the output instead. */
export async function readNetlifyToml(file: string, text: string, source: SourceFolder): Promise<ProjectConfig> {
  const context = openPlatformFile(file, source)
  const { log } = context
  const root = parseToml(text, log)
  noteOthers(root, ['build', 'redirects', 'headers'], ['dev', 'template'], context)
  for (const key of ['redirects', 'headers'])
    if (root.entries.has(key)) log.note(root.entries.get(key)!.at, `${quote(key)} has no effect here. Write them into a file _${key} of the site`)
  const draft = addService('web', root.at, context)
  const build = mapOf(root.entries.get('build')?.value)
  if (!build) return finishPlatformFile(context, draft)
  noteOthers(build, ['command', 'base', 'publish', 'environment'], ['ignore', 'edge_functions'], context, 'build: ')

  const command = build.entries.get('command')
  if (command && textOf(command.value) !== undefined) setSetting('build_command', textOf(command.value) ?? '', command.at, context)
  const base = build.entries.get('base')
  const folder = textOf(base?.value)?.replace(/^\/+/, '')
  if (base && folder !== undefined && folder !== '') {
    const directory = resolveSourcePath(folder, base.at, 'build.base', context)
    const kind = directory === undefined ? undefined : await inspectPath(directory, base.at, 'build.base', context)
    if (directory !== undefined && kind === 'folder') {
      setSetting('root_directory', directory, base.at, context)
      draft.config.source = { kind: 'build', directory, dockerfile: null, target: null, arguments: {}, files: [] }
    } else if (kind !== undefined) log.note(base.at, `build.base: the source has no folder ${quote(folder)}`)
  }
  const publish = build.entries.get('publish')
  if (publish) log.note(publish.at, 'publish has no effect here: the folder of the site is detected')
  for (const { key, at, value } of mapOf(build.entries.get('environment')?.value)?.entries.values() ?? []) {
    const text = textOf(value)
    if (text === undefined) continue
    if (key === 'NODE_VERSION') setSetting('node_version', text, at, context)
    else if (validateKey(key) === undefined) addDefaultVariables([draft], key, text)
    else log.note(at, `the variable ${quote(key)} is left out. ${validateKey(key)}`)
  }
  return finishPlatformFile(context, draft)
}
