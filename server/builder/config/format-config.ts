import { isDeepStrictEqual } from 'node:util'
import { Document, type Pair, type Scalar, visit, YAMLMap, type YAMLSeq } from 'yaml'
import type { TemplatePart } from '../../contract/environment-template.ts'
import type { ProjectConfig, ServiceConfig } from '../../contract/project-config.ts'
import { parseCommand } from './command.ts'
import { toLine } from './config-failure.ts'

interface FormatOptions {
  /** Address of the JSON Schema, for editors. */
  schema_url: string
  /** Sentences about the build of each service, as comments above it. */
  build_notes?: ReadonlyMap<string, readonly string[]>
}

/** A homeport.yaml with the same meaning as `config`. */
export function formatHomeportYaml(source: ProjectConfig, { schema_url, build_notes = new Map() }: FormatOptions): string {
  const config = nameMain(source)
  const volumes = [...new Set(config.services.flatMap((service) => service.volumes.map(({ name }) => name)))]
  const { release } = config
  const document = new Document({
    services: Object.fromEntries(config.services.map((service) => [service.name, formatService(service, service.name === config.main)])),
    ...(release
      ? { release: release.service === config.main ? formatCommand(release.command) : { ...release, command: formatCommand(release.command) } }
      : {}),
    ...(volumes.length > 0 ? { volumes: Object.fromEntries(volumes.map((name) => [name, {}])) } : {}),
    ...(config.managed && config.managed.length > 0 ? { managed: config.managed } : {}),
    ...(config.required_variables.length > 0 ? { required_variables: config.required_variables } : {}),
    ...config.settings,
  })
  visit(document, { Seq: (_, node) => void (node.flow = isShort(node)), Map: (_, node) => void (node.flow = node.items.length === 0) })
  addComments(document, config, source, build_notes)
  const notes = source.explanation.filter(
    (sentence) => source.file !== null && /^\S+( line \d+)?: |^app\.json: /.test(sentence) && sentence.startsWith(source.file),
  )
  const head = [
    ` yaml-language-server: $schema=${schema_url}`,
    ' What this source runs. homeport help configuration explains each key, and homeport config check reads the file.',
    ...(source.file === null ? [] : [` Generated from ${source.file}, which is no longer read.`]),
    ...notes.map((note) => ` ${note}`),
  ]
  document.commentBefore = head.map(toLine).join('\n')
  return document.toString({ lineWidth: 0, singleQuote: false })
}

/** The main service is named web where the file does not name a main service. Its old name stays as an alias. */
function nameMain(config: ProjectConfig): ProjectConfig {
  const { main, services } = config
  const others = services.filter(({ name, port, is_public, kind }) => name !== main && kind !== 'cron' && (port !== null || is_public))
  if (main === null || main === 'web' || (others.length === 0 && hasPort(config))) return config
  if (services.some(({ name }) => name === 'web')) return config
  const rename = (name: string) => (name === main ? 'web' : name)
  return {
    ...config,
    main: 'web',
    services: services.map((service) => ({
      ...service,
      name: rename(service.name),
      aliases: service.name === main ? [main, ...service.aliases] : service.aliases,
      depends_on: service.depends_on.map((one) => ({ ...one, service: rename(one.service) })),
    })),
    release: config.release && { ...config.release, service: rename(config.release.service) },
  }
}

const hasPort = ({ main, services }: ProjectConfig): boolean => services.some(({ name, port }) => name === main && port !== null)

function formatService(service: ServiceConfig, isMain: boolean): Record<string, unknown> {
  const { source, health_check } = service
  const environment = {
    ...Object.fromEntries(Object.entries(service.environment).map(([name, value]) => [name, value.replaceAll('$', '$$$$')])),
    ...Object.fromEntries(Object.entries(service.environment_templates).map(([name, parts]) => [name, formatTemplate(parts)])),
  }
  const files = source.files.map((file) => `./${file.source === '.' ? '' : file.source}:${file.path}:ro`)
  const volumes = [...service.volumes.map(({ name, path, is_read_only }) => `${name}:${path}${is_read_only ? ':ro' : ''}`), ...files]
  const isDefaultBuild = source.kind === 'build' && source.dockerfile === null && source.target === null && Object.keys(source.arguments).length === 0
  const fields: Record<string, unknown> = {
    ...(source.kind === 'image'
      ? { image: source.image }
      : {
          build: isDefaultBuild
            ? source.directory
            : withoutEmpty({
                context: source.directory,
                dockerfile: source.dockerfile === null ? null : relativeTo(source.directory, source.dockerfile),
                target: source.target,
                args: source.arguments,
              }),
        }),
    entrypoint: service.entrypoint && formatCommand(service.entrypoint),
    command: service.command && formatCommand(service.command),
    working_dir: service.working_directory,
    // A port would make a built service answer HTTP, which a worker does not.
    port: service.kind === 'worker' ? null : service.port,
    public: isMain ? (service.is_public ? null : false) : service.is_public ? true : null,
    ports: service.ports,
    schedule: service.schedule,
    time_zone: service.time_zone,
    environment,
    aliases: service.aliases,
    volumes,
    depends_on: service.depends_on.every(({ condition }) => condition === 'started')
      ? service.depends_on.map((one) => one.service)
      : Object.fromEntries(service.depends_on.map((one) => [one.service, { condition: conditions[one.condition] }])),
    restart: service.restart === 'on_failure' ? 'on-failure' : null,
    healthcheck:
      health_check?.kind === 'path'
        ? health_check.timeout_s === undefined && health_check.interval_s === undefined
          ? health_check.path
          : withoutEmpty({
              path: health_check.path,
              timeout: formatSeconds(health_check.timeout_s),
              interval: formatSeconds(health_check.interval_s),
            })
        : health_check && {
            test: isShell(health_check.command) ? ['CMD-SHELL', health_check.command[2]] : ['CMD', ...health_check.command],
            interval: `${health_check.interval_s}s`,
            timeout: `${health_check.timeout_s}s`,
            retries: health_check.retries,
            ...(health_check.start_period_s > 0 ? { start_period: `${health_check.start_period_s}s` } : {}),
          },
    memory: service.memory_mb === null ? null : `${service.memory_mb}m`,
    cpus: service.cpus,
    replicas: service.replicas,
    autoscaling: service.autoscaling,
  }
  return withoutEmpty(fields)
}

const conditions = { started: 'service_started', healthy: 'service_healthy', completed: 'service_completed_successfully' } as const

const formatSeconds = (seconds: number | undefined): string | null => (seconds === undefined ? null : `${seconds}s`)

const isShell = (command: readonly string[]): boolean => command.length === 3 && command[0] === '/bin/sh' && command[1] === '-c'

/** Text if it parses to the same words, else a list. */
function formatCommand(command: readonly string[]): string | string[] {
  const text = isShell(command) ? (command[2] ?? '') : command.join(' ')
  return isDeepStrictEqual(parseCommand(text), command) ? text : [...command]
}

function formatTemplate(parts: readonly TemplatePart[]): string {
  return parts
    .map((part) =>
      typeof part === 'string'
        ? part.replaceAll('$', '$$$$')
        : `\${${part.variable}${part.operator === null ? '' : part.operator + formatTemplate(part.word)}}`,
    )
    .join('')
}

const relativeTo = (directory: string, path: string): string =>
  directory !== '.' && path.startsWith(`${directory}/`)
    ? path.slice(directory.length + 1)
    : directory === '.'
      ? path
      : `${'../'.repeat(directory.split('/').length)}${path}`

function withoutEmpty(fields: Record<string, unknown>): Record<string, unknown> {
  const isEmpty = (value: unknown) => value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0)
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)))
}

/** Whether a list fits on a line. */
function isShort(node: YAMLSeq): boolean {
  const texts = node.items.map((item) => String((item as Scalar).value ?? item))
  return texts.every((text) => !text.includes('\n')) && texts.join(', ').length <= 100
}

function addComments(document: Document, config: ProjectConfig, source: ProjectConfig, notes: ReadonlyMap<string, readonly string[]>): void {
  const services = document.get('services')
  if (!(services instanceof YAMLMap)) return
  for (const [index, pair] of (services.items as Pair<Scalar<string>>[]).entries()) {
    const original = source.services[index]
    const sentences = [...(config.main === pair.key.value ? ['Answers on the project’s address.'] : []), ...(notes.get(original?.name ?? '') ?? [])]
    if (index > 0) pair.key.spaceBefore = true
    if (sentences.length > 0) pair.key.commentBefore = sentences.map((sentence) => ` ${toLine(sentence)}`).join('\n')
  }
}
