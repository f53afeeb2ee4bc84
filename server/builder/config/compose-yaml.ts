import { parseDotenv } from '../../contract/dotenv.ts'
import { fillTemplate } from '../../contract/environment-template.ts'
import { maxServices, serviceNameMessage, serviceNamePattern, volumeNameMessage, volumeNamePattern } from '../../contract/homeport-yaml.ts'
import type { ProjectConfig } from '../../contract/project-config.ts'
import type { SourceFolder } from '../source-folder.ts'
import { chooseComposeMain, isBacking } from './compose-main.ts'
import { resolveExtends } from './compose-extends.ts'
import { readComposeFiles } from './compose-files.ts'
import { checkKeys } from './compose-keys.ts'
import { readNetworks } from './compose-network.ts'
import { readComposeService, type ComposeContext, type ComposeService } from './compose-service.ts'
import { ConfigFailure, ConfigLog } from './config-failure.ts'
import { explainServices, finishServices } from './finish-config.ts'
import { parseTemplate } from './interpolation.ts'
import { readBoolean, readEntries, readItems, readLooseText, readText, valueOf, type ValueContext } from './node-values.ts'
import { createDraft } from './service-draft.ts'
import { readSourceFile } from './source-paths.ts'
import { parseYaml, quote, type YamlMap } from './yaml-tree.ts'

export const composeFiles = ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml']
const overrideFiles = composeFiles.map((name) => name.replace('.', '.override.'))

/**
 * Reads a compose file. Throws ConfigFailure with all its problems. null: it only starts what an app needs for development, such
 * as a database, so it does not say how the app is deployed.
 */
export async function readComposeYaml(file: string, text: string, source: SourceFolder): Promise<ProjectConfig | null> {
  const log = new ConfigLog(file)
  const root = parseYaml(text, log)
  if (root.kind !== 'map') throw new ConfigFailure(file, [{ ...root.at, message: 'The file is not a map of keys.', hint: 'Start with services:.' }])
  const base: ValueContext = { source, log, volumes: new Set(), required_variables: new Set(), defaults: new Map() }
  const context: ValueContext = { ...base, defaults: await readDefaults(base) }
  const unread = {
    include: { reject: 'names other files, but only one file is read', hint: `Move the services into ${file}.` },
    models: { reject: 'needs a model runner, which Homeport does not have', hint: 'Run the model as a service.' },
  }
  checkKeys(root, 'The file', ['services', 'volumes', 'networks', 'configs', 'secrets', 'version', 'name'], unread, context)
  for (const name of overrideFiles) if (await source.has(name)) log.note(null, `${name} is not read, because it is for development`)
  readVolumes(root, context)
  const composeContext: ComposeContext = { ...context, networks: readNetworks(root, context), files: await readComposeFiles(root, context) }
  const { services, skipped } = await readServices(root, composeContext)
  if (await isForDevelopment(services, source)) return null
  const main = chooseComposeMain(services, composeContext)

  for (const { draft } of services) draft.config.depends_on = draft.config.depends_on.filter(({ service }) => !skipped.has(service))
  const drafts = services.map(({ draft }) => draft)
  const finished = finishServices(drafts, main, composeContext)
  log.throwProblems()
  const result = { services: finished, main: main?.config.name ?? null, release: null }
  return {
    file,
    ...result,
    managed: null,
    required_variables: [...context.required_variables],
    settings: {},
    lines: {},
    explanation: [`Services are read from ${file}`, ...explainServices(result), ...log.notes],
  }
}

const isReady = ({ draft }: ComposeService): boolean => draft.config.source.kind === 'image'

/** Files of which one is in the root of an app that is built. */
const appFiles =
  /^(Dockerfile|package\.json|index\.html|go\.mod|requirements\.txt|pyproject\.toml|Pipfile|Gemfile|composer\.json|pom\.xml|build\.gradle(\.kts)?|Cargo\.toml|mix\.exs|deno\.jsonc?|.+\.(csproj|sln))$/

/** Whether the file only starts what the app needs on a developer's machine: databases and tools, but not the app itself. */
async function isForDevelopment(services: readonly ComposeService[], source: SourceFolder): Promise<boolean> {
  if (services.length === 0 || !services.every((service) => isReady(service) && (service.ports.length === 0 || isBacking(service)))) return false
  return (await source.list('.')).some((name) => appFiles.test(name))
}

/** The `.env` next to the file: values for `${NAME}`, which the project's variables override. It is part of the source, so it is not secret. */
async function readDefaults(context: ValueContext): Promise<ReadonlyMap<string, string>> {
  const text = await readSourceFile('.env', { line: 1, column: 1 }, '.env', context)
  const values: Record<string, string> = {}
  for (const { key, value } of parseDotenv(text ?? '')) {
    const template = value.includes('$') ? parseTemplate(value) : null
    values[key] = template === null ? value : fillTemplate(template.parts, values)
  }
  return new Map(Object.entries(values))
}

function readVolumes(root: YamlMap, context: ValueContext): void {
  const { log } = context
  const driverRule = { reject: 'names a path or a device of this machine', hint: 'Remove the line: the data is kept in a volume of the environment.' }
  for (const { key, at, value } of readEntries(valueOf(root, 'volumes'), 'volumes', context)) {
    const label = `volumes.${key}`
    context.volumes.add(key)
    if (!volumeNamePattern.test(key)) log.reject(at, `volumes: ${quote(key)} is not a name. ${volumeNameMessage}`, 'Rename the volume.')
    if (value.kind !== 'map') continue
    checkKeys(value, label, ['driver', 'external', 'name', 'labels'], { driver_opts: driverRule }, context)
    const driver = readText(valueOf(value, 'driver'), `${label}.driver`, context)
    if (driver !== undefined && driver !== 'local')
      log.reject(value.entries.get('driver')!.at, `${label}.driver: ${quote(driver)} is not a driver that Homeport has.`, 'Remove the line.')
    const external = valueOf(value, 'external')
    if (external && (external.kind === 'map' || readBoolean(external, `${label}.external`, context) === true))
      log.note(at, `${label} is external, but volumes belong to an environment: it is created with the environment and starts empty`)
  }
}

async function readServices(root: YamlMap, context: ComposeContext): Promise<{ services: ComposeService[]; skipped: Set<string> }> {
  const { log } = context
  const node = valueOf(root, 'services')
  const entries = readEntries(node, 'services', context)
  if (entries.length === 0) log.reject(node?.at ?? root.at, 'The file has no services.', 'Add services:, or remove the file.')
  const services: ComposeService[] = []
  const skipped = new Set<string>()
  for (const { key, at, value } of entries) {
    if (!serviceNamePattern.test(key)) {
      skipped.add(key)
      log.reject(at, `services: ${quote(key)} is not a name that Homeport can use. ${serviceNameMessage}`, 'Rename the service.')
      continue
    }
    if (value.kind !== 'map' || node?.kind !== 'map') {
      skipped.add(key)
      log.reject(at, `services.${key} is not a map.`, 'Add build or image to the service.')
      continue
    }
    const service = resolveExtends(value, key, node, log.file, context)
    const profiles = readItems(valueOf(service, 'profiles'), `services.${key}.profiles`, context).map((item) => readLooseText(item, context))
    if (profiles.length > 0) {
      skipped.add(key)
      log.note(at, `services.${key} is not started, because it belongs to the profile ${profiles.map(quote).join(', ')}`)
      continue
    }
    const read = await readComposeService(createDraft(key, at), service, context)
    if (read.draft.config.replicas === 0) {
      skipped.add(key)
      log.note(at, `services.${key} is not started, because it has 0 replicas`)
    } else services.push(read)
  }
  if (services.length > maxServices)
    log.reject(node?.at ?? root.at, `The file starts ${services.length} services; at most ${maxServices} are run.`, 'Split the project.')
  addLinkAliases(services, node?.kind === 'map' ? node : null, context)
  return { services, skipped }
}

/** `links: [db:database]` names another service. */
function addLinkAliases(services: readonly ComposeService[], node: YamlMap | null, context: ComposeContext): void {
  for (const { draft } of services) {
    const service = node?.entries.get(draft.config.name)?.value
    if (service?.kind !== 'map') continue
    for (const item of readItems(valueOf(service, 'links'), 'links', context)) {
      const [name, alias] = readLooseText(item, context).split(':')
      const target = services.find((one) => one.draft.config.name === name)
      if (target && alias !== undefined && /^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$/.test(alias)) target.draft.config.aliases.push(alias)
    }
  }
}
