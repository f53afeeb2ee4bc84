import { parseDuration, parseMemory } from '../../contract/homeport-yaml.ts'
import { limits } from '../../contract/limits.ts'
import type { ProjectConfig } from '../../contract/project-config.ts'
import type { SourceFolder } from '../source-folder.ts'
import { parseCommand } from './command.ts'
import { imageMessage, imagePattern } from '../../contract/homeport-yaml.ts'
import { addEnvironment, readNamedValues } from './environment.ts'
import { createPathCheck, limitHealthTimeout } from './health-check.ts'
import {
  addService,
  findNamedDockerfile,
  finishPlatformFile,
  mapOf,
  mapsOf,
  noteOthers,
  numberOf,
  openPlatformFile,
  type PlatformFile,
  textOf,
  textsOf,
  toServiceName,
} from './platform-file.ts'
import type { ServiceDraft } from './service-draft.ts'
import { parseToml } from './toml-tree.ts'
import { addMount } from './volumes.ts'
import { quote, type YamlMap, type YamlNode } from './yaml-tree.ts'

const read = 'build env http_service services processes mounts mount deploy vm'.split(' ')
const silent = 'app primary_region kill_signal kill_timeout console_command swap_size_mb'.split(' ')

/** fly.toml: its processes are services, and the one that `http_service` names answers requests. */
export async function readFlyToml(file: string, text: string, source: SourceFolder): Promise<ProjectConfig> {
  const context = openPlatformFile(file, source)
  const root = parseToml(text, context.log)
  noteOthers(root, read, silent, context)
  const processes = mapOf(root.entries.get('processes')?.value)
  for (const { key, at, value } of processes?.entries.values() ?? []) {
    const name = toServiceName(key)
    if (name === null || context.services.some(({ config }) => config.name === name)) context.log.note(at, `the process ${quote(key)} has no effect`)
    else addService(name, at, context).config.command = parseCommand(textOf(value) ?? '')
  }
  for (const { config } of context.services) if (config.command?.length === 0) config.command = null
  if (context.services.length === 0) addService('web', root.at, context)
  await readBuild(root, context)
  const main = readHttpService(root, context)
  const env = root.entries.get('env')
  const values = env ? readNamedValues(env.value, context, 'env') : []
  for (const draft of context.services)
    addEnvironment(
      draft.config,
      values.filter(({ name }) => name !== 'PORT' || draft === main),
      new Map(),
      context,
    )
  for (const mount of [...mapsOf(root.entries.get('mounts')?.value), ...mapsOf(root.entries.get('mount')?.value)]) await readMounts(mount, context)
  for (const machine of mapsOf(root.entries.get('vm')?.value)) readMachine(machine, context)
  const release = root.entries.get('deploy')
  const command = textOf(mapOf(release?.value)?.entries.get('release_command')?.value)
  if (release?.value.kind === 'map')
    noteOthers(release.value, ['release_command'], ['strategy', 'wait_timeout', 'max_unavailable'], context, 'deploy: ')
  const service = (main ?? context.services[0])?.config.name ?? ''
  return finishPlatformFile(context, main, command === undefined ? null : { service, command: parseCommand(command) })
}

/** The services that a table is about: those in `processes`, or all. */
function select(table: YamlMap, context: PlatformFile): ServiceDraft[] {
  const names = textsOf(table.entries.get('processes')?.value).map(toServiceName)
  return names.length === 0 ? context.services : context.services.filter(({ config }) => names.includes(config.name))
}

async function readBuild(root: YamlMap, context: PlatformFile): Promise<void> {
  const build = mapOf(root.entries.get('build')?.value)
  if (!build) return
  noteOthers(build, ['image', 'dockerfile', 'build-target', 'args'], ['ignorefile'], context, 'build: ')
  const image = textOf(build.entries.get('image')?.value)
  const dockerfile = textOf(build.entries.get('dockerfile')?.value)
  const path = dockerfile === undefined ? null : await findNamedDockerfile(dockerfile, build.entries.get('dockerfile')!.at, context)
  const args = build.entries.get('args')
  const values = args ? readNamedValues(args.value, context, 'build.args') : []
  const isImage = image !== undefined && imagePattern.test(image)
  if (image !== undefined && !isImage) context.log.note(build.entries.get('image')!.at, `${quote(image)} has no effect. ${imageMessage}`)
  for (const { config } of context.services) {
    if (isImage) config.source = { kind: 'image', image, files: [] }
    else if (config.source.kind === 'build') {
      config.source.dockerfile = path
      config.source.target = textOf(build.entries.get('build-target')?.value) ?? null
      config.source.arguments = Object.fromEntries(values.map(({ name, value }) => [name, value ?? '']))
    }
  }
}

/** The service of `http_service`, or of the first of `services` with a port for HTTP. */
function readHttpService(root: YamlMap, context: PlatformFile): ServiceDraft | null {
  const tables = [...mapsOf(root.entries.get('http_service')?.value), ...mapsOf(root.entries.get('services')?.value)]
  const isHttp = (table: YamlMap) =>
    table === tables[0] || mapsOf(table.entries.get('ports')?.value).some((port) => textsOf(port.entries.get('handlers')?.value).includes('http'))
  const table = tables.find(isHttp)
  if (!table) return context.services.find(({ config }) => config.name === 'web' || config.name === 'app') ?? null
  const candidates = select(table, context)
  const main = candidates.find(({ config }) => config.name === 'web' || config.name === 'app') ?? candidates[0] ?? null
  if (!main) return null
  const portOf = (one: YamlMap) => numberOf(one.entries.get('internal_port')?.value, 1, 65_535)
  main.config.port = portOf(table) ?? null
  for (const other of tables) {
    const port = portOf(other)
    if (other === table) continue
    if (port !== undefined && isHttp(other) && select(other, context).includes(main)) main.config.ports = [...(main.config.ports ?? []), port]
    else context.log.note(other.at, 'an additional service has no effect: services reach each other by name and port')
  }
  const check = [...mapsOf(table.entries.get('checks')?.value), ...mapsOf(table.entries.get('http_checks')?.value)][0]
  const path = textOf(check?.entries.get('path')?.value)
  if (path?.startsWith('/')) main.config.health_check = createPathCheck(path, readHealthTimeout(root, check))
  return main
}

/** How long a version may take: `wait_timeout` of the deployment, or the usual time after the `grace_period` of the check. */
function readHealthTimeout(root: YamlMap, check: YamlMap | undefined): number | undefined {
  const wait = durationOf(mapOf(root.entries.get('deploy')?.value)?.entries.get('wait_timeout')?.value)
  const grace = durationOf(check?.entries.get('grace_period')?.value)
  const seconds = wait ?? (grace === undefined ? undefined : grace + limits.health_timeout_s.default)
  return seconds === undefined ? undefined : limitHealthTimeout(seconds)
}

/** Seconds; a number without a unit is milliseconds. */
function durationOf(node: YamlNode | undefined): number | undefined {
  const text = textOf(node)
  return text === undefined ? undefined : parseDuration(/^\d+$/.test(text) ? `${text}ms` : text)
}

async function readMounts(mount: YamlMap, context: PlatformFile): Promise<void> {
  const name = textOf(mount.entries.get('source')?.value)
  const path = textOf(mount.entries.get('destination')?.value)
  if (name === undefined || path === undefined) return
  context.volumes.add(name)
  for (const draft of select(mount, context))
    await addMount(draft, { kind: 'volume', source: name, target: path, is_read_only: false, at: mount.at }, context)
}

function readMachine(machine: YamlMap, context: PlatformFile): void {
  const text = textOf(machine.entries.get('memory')?.value) ?? textOf(machine.entries.get('memory_mb')?.value)
  const memory = text === undefined ? undefined : parseMemory(/^\d+$/.test(text) ? `${text}m` : text)
  const cpus = numberOf(machine.entries.get('cpus')?.value, 1, 256)
  noteOthers(machine, ['memory', 'memory_mb', 'cpus', 'processes'], ['cpu_kind'], context, 'vm: ')
  for (const { config } of select(machine, context)) {
    config.memory_mb = memory ?? config.memory_mb
    config.cpus = cpus ?? config.cpus
  }
}
