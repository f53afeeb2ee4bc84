import { maxServices, parseMemory, type HomeportService, type HomeportYaml } from '../../contract/homeport-yaml.ts'
import type { ProjectConfig } from '../../contract/project-config.ts'
import { readFirst, type SourceFolder } from '../source-folder.ts'
import { parseCommand } from './command.ts'
import { pickSettings, validateHomeportYaml } from './config-schema.ts'
import { ConfigFailure, ConfigLog, type Position } from './config-failure.ts'
import { addEnvironment, addEnvironmentFile, readNamedValues } from './environment.ts'
import { explainServices, finishServices } from './finish-config.ts'
import { readHealthCheck, readPathCheck } from './health-check.ts'
import { explainManaged, readManaged } from './managed.ts'
import { explainNearest } from './nearest-name.ts'
import { createDraft, type ConfigContext, type ServiceDraft } from './service-draft.ts'
import { inspectPath, resolveSourcePath } from './source-paths.ts'
import { addMount, parseMount } from './volumes.ts'
import { findEntry, findPosition, parseYaml, quote, type YamlNode } from './yaml-tree.ts'

export const homeportFiles = ['homeport.yaml', 'homeport.yml']

/** Reads homeport.yaml. Throws ConfigFailure with all its problems. */
export async function readHomeportYaml(file: string, text: string, source: SourceFolder): Promise<ProjectConfig> {
  const log = new ConfigLog(file)
  const root = parseYaml(text, log)
  removeExtensions(root)
  const value = validateHomeportYaml(root, log)
  if (value === null) throw new ConfigFailure(file, log.problems)
  const context: ConfigContext = {
    is_strict: true,
    source,
    log,
    volumes: new Set(Object.keys(value.volumes ?? {})),
    required_variables: new Set(value.required_variables),
  }
  // A file that only has settings is about one web service.
  const written = Object.entries(value.services ?? {})
  const services: [string, HomeportService][] = written.length > 0 ? written : [['web', { build: value.root_directory ?? '.' }]]
  if (services.length > maxServices)
    log.reject(findPosition(root, ['services']), `The file has ${services.length} services; at most ${maxServices} are run.`, 'Split the project.')
  const drafts: ServiceDraft[] = []
  for (const [name, service] of services.slice(0, maxServices)) {
    const entry = findEntry(findEntry(root, 'services')?.value, name)
    drafts.push(await readService(createDraft(name, entry?.at ?? root.at), service, entry?.value ?? root, context))
  }
  if (value.replicas !== undefined && value.autoscaling)
    log.reject(findPosition(root, ['autoscaling']), 'The file has replicas and autoscaling.', 'Keep one of them.')
  const managed = readManaged(value.managed ?? [], drafts, root, log)
  const main = chooseMain(drafts, context)
  const finished = finishServices(drafts, main, context)
  const release = readRelease(value.release, drafts, main, findPosition(root, ['release']), log)
  log.throwProblems()
  const result = { services: finished, main: main?.config.name ?? null, release }
  return {
    file,
    ...result,
    managed,
    required_variables: [...context.required_variables],
    settings: pickSettings(value),
    lines: {},
    explanation: [`Services are read from ${file}`, ...explainServices(result), ...explainManaged(managed), ...log.notes],
  }
}

/** The development server that homeport.yaml names; null without one. Throws ConfigFailure with all problems of the file. */
export async function readDevSetting(source: SourceFolder): Promise<{ file: string; command: string[]; port: number | null } | null> {
  const found = await readFirst(source, '.', homeportFiles)
  if (!found) return null
  const log = new ConfigLog(found.name)
  const root = parseYaml(found.text, log)
  removeExtensions(root)
  const value = validateHomeportYaml(root, log)
  if (value === null) throw new ConfigFailure(found.name, log.problems)
  const { dev } = value
  if (dev === undefined) return null
  const isMap = typeof dev === 'object' && !Array.isArray(dev)
  return { file: found.name, command: toCommand(isMap ? dev.command : dev) ?? [], port: (isMap ? dev.port : undefined) ?? null }
}

/** `x-` keys contain parts that anchors reuse, as in compose. */
function removeExtensions(root: YamlNode): void {
  const services = findEntry(root, 'services')?.value
  const maps = [root, ...(services?.kind === 'map' ? [services, ...[...services.entries.values()].map(({ value }) => value)] : [])]
  for (const map of maps) if (map.kind === 'map') for (const key of map.entries.keys()) if (key.startsWith('x-')) map.entries.delete(key)
}

async function readService(draft: ServiceDraft, service: HomeportService, node: YamlNode, context: ConfigContext): Promise<ServiceDraft> {
  const { config } = draft
  const { log } = context
  const label = `services.${config.name}`
  const at = (key: string): Position => (node.kind === 'map' ? (node.entries.get(key)?.at ?? draft.at) : draft.at)
  const valueOf = (key: string) => findEntry(node, key)?.value
  draft.wants_public = service.public ?? null
  config.port = service.port ?? null
  if (service.ports) config.ports = service.ports
  config.schedule = service.schedule ?? null
  config.time_zone = service.time_zone ?? null
  config.working_directory = service.working_dir ?? null
  config.command = toCommand(service.command)
  config.entrypoint = toCommand(service.entrypoint)
  config.memory_mb = service.memory === undefined ? null : (parseMemory(service.memory) ?? null)
  config.cpus = service.cpus === undefined ? null : Number(service.cpus)
  config.replicas = service.replicas ?? null
  if (service.autoscaling) config.autoscaling = service.autoscaling
  config.aliases = service.aliases ?? []
  config.restart = service.restart === 'on-failure' || service.restart === 'no' ? 'on_failure' : 'always'
  if (service.image !== undefined) {
    if (service.build !== undefined)
      log.reject(at('image'), `${label} has build and image.`, 'Keep one of them: build for the source, image for a prebuilt image.')
    config.source = { kind: 'image', image: service.image, files: [] }
  } else await readBuild(draft, service, valueOf('build'), at('build'), context)
  checkSchedule(service, label, at, log)

  const files = service.env_file === undefined ? [] : [service.env_file].flat()
  for (const [index, file] of files.entries()) {
    const list = valueOf('env_file')
    await addEnvironmentFile(config, file, (list?.kind === 'list' ? list.items[index]?.at : undefined) ?? at('env_file'), true, context)
  }
  const environment = valueOf('environment')
  if (environment) addEnvironment(config, readNamedValues(environment, context, `${label}.environment`), new Map(), context)
  const volumes = valueOf('volumes')
  for (const item of volumes?.kind === 'list' ? volumes.items : []) {
    const mount = item.kind === 'scalar' ? parseMount(item.text, item.at, `${label}.volumes`, context) : undefined
    if (mount) await addMount(draft, mount, context)
  }
  readDependencies(draft, service, at('depends_on'))
  const { healthcheck } = service
  if (typeof healthcheck === 'string') config.health_check = { kind: 'path', path: healthcheck }
  else if (healthcheck && healthcheck.path !== undefined)
    config.health_check = readPathCheck({ ...healthcheck, path: healthcheck.path }, at('healthcheck'), `${label}.healthcheck`, log)
  else if (healthcheck) config.health_check = readHealthCheck(valueOf('healthcheck')!, `${label}.healthcheck`, context)
  return draft
}

function toCommand(input: string | string[] | undefined): string[] | null {
  if (input === undefined) return null
  return typeof input === 'string' ? parseCommand(input) : input
}

async function readBuild(
  draft: ServiceDraft,
  { build }: HomeportService,
  node: YamlNode | undefined,
  at: Position,
  context: ConfigContext,
): Promise<void> {
  const label = `services.${draft.config.name}.build`
  const { context: folder = '.', dockerfile, target, args } = typeof build === 'string' ? { context: build } : (build ?? {})
  const directory = resolveSourcePath(folder, at, label, context)
  if (directory === undefined) return
  const kind = await inspectPath(directory, at, label, context)
  if (kind === undefined) return
  if (kind !== 'folder') {
    context.log.reject(at, `${label}: the source has no folder ${quote(directory)}.`, 'Name a folder of the source, relative to its root.')
    return
  }
  const file = dockerfile === undefined ? null : resolveSourcePath(dockerfile, at, `${label}.dockerfile`, context, directory)
  if (file === undefined) return
  if (file !== null && (await inspectPath(file, at, `${label}.dockerfile`, context)) === 'missing')
    context.log.reject(at, `${label}.dockerfile: the source has no file ${quote(file)}.`, 'Name a Dockerfile, relative to the folder of the build.')
  const values = args === undefined ? undefined : findEntry(node, 'args')?.value
  const named = values === undefined ? [] : readNamedValues(values, context, `${label}.args`)
  draft.config.source = {
    kind: 'build',
    directory,
    dockerfile: file,
    target: target ?? null,
    arguments: Object.fromEntries(named.map(({ name, value }) => [name, value ?? ''])),
    files: [],
  }
}

/** Fields that only make sense with, or without, a schedule. */
function checkSchedule(service: HomeportService, label: string, at: (key: string) => Position, log: ConfigLog): void {
  if (service.schedule === undefined) {
    if (service.time_zone !== undefined) log.reject(at('time_zone'), `${label}.time_zone needs a schedule.`, 'Add schedule, or remove time_zone.')
    return
  }
  if (service.command === undefined && service.image === undefined)
    log.reject(at('schedule'), `${label} has a schedule, but no command.`, 'Add the command that runs at these times.')
  for (const key of ['port', 'public', 'ports', 'replicas', 'autoscaling', 'healthcheck'] as const)
    if (service[key] !== undefined && service[key] !== false)
      log.reject(at(key), `${label}.${key} has no meaning for a service with a schedule.`, `Remove ${key}, or the schedule.`)
}

function readDependencies(draft: ServiceDraft, { depends_on }: HomeportService, at: Position): void {
  const entries = Array.isArray(depends_on) ? depends_on.map((name) => [name, {}] as const) : Object.entries(depends_on ?? {})
  for (const [service, options] of entries) {
    const condition = 'condition' in options ? options.condition : undefined
    draft.depends_on_at.set(service, at)
    draft.config.depends_on.push({
      service,
      condition: condition === 'service_healthy' ? 'healthy' : condition === 'service_completed_successfully' ? 'completed' : 'started',
    })
  }
}

/** `web`, or the only service with a port. */
function chooseMain(drafts: readonly ServiceDraft[], { log }: ConfigContext): ServiceDraft | null {
  const running = drafts.filter(({ config }) => config.schedule === null)
  const web = running.find(({ config }) => config.name === 'web')
  if (web) return web
  const withPort = running.filter(({ config, wants_public }) => config.port !== null || wants_public === true)
  const narrower = [
    withPort,
    withPort.filter(({ wants_public }) => wants_public === true),
    withPort.filter(({ config }) => config.source.kind === 'build'),
  ]
  const found = narrower.find((candidates) => candidates.length === 1)?.[0]
  if (found || withPort.length === 0) return found ?? null
  const names = withPort.map(({ config }) => config.name).join(', ')
  log.reject(withPort[1]?.at ?? null, `${names} have a port, and none is named web.`, 'Name the service web that answers on the project’s address.')
  return null
}

function readRelease(
  release: HomeportYaml['release'],
  drafts: readonly ServiceDraft[],
  main: ServiceDraft | null,
  at: Position,
  log: ConfigLog,
): ProjectConfig['release'] {
  if (release === undefined) return null
  const isMap = typeof release === 'object' && !Array.isArray(release)
  const command = toCommand(isMap ? release.command : release) ?? []
  const names = drafts.map(({ config }) => config.name)
  const built = drafts.filter(({ config }) => config.source.kind === 'build')
  const service = isMap && release.service !== undefined ? release.service : (main && built.includes(main) ? main : built[0])?.config.name
  if (service === undefined) log.reject(at, 'release has no service that is built from the source.', 'Add a service with build, or remove release.')
  else if (!names.includes(service))
    log.reject(at, `release.service: ${quote(service)} is not a service of this file.`, explainNearest(service, names))
  return { service: service ?? '', command }
}
