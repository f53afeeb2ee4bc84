import { limits } from '../../contract/limits.ts'
import type { ProjectConfig, ServiceConfig } from '../../contract/project-config.ts'
import { toLine } from './config-failure.ts'
import { takePort } from './environment.ts'
import type { ConfigContext, ServiceDraft } from './service-draft.ts'
import { explainNearest } from './nearest-name.ts'
import { quote } from './yaml-tree.ts'

/** Decides what depends on all services: which one is main, the kind of each, and whether their dependencies exist and can be ordered. */
export function finishServices(drafts: readonly ServiceDraft[], main: ServiceDraft | null, context: ConfigContext): ServiceConfig[] {
  const names = drafts.map(({ config }) => config.name)
  const taken = new Set(names)
  for (const draft of drafts) {
    const { config } = draft
    takePort(config)
    finishPorts(draft, drafts, context)
    config.is_public = config.schedule === null && (draft.wants_public ?? draft === main)
    config.kind = decideKind(draft, draft === main)
    config.aliases = [...new Set(config.aliases)].filter((alias) => alias !== config.name && !taken.has(alias))
    for (const alias of config.aliases) taken.add(alias)
    if (config.health_check?.kind === 'path' && config.kind !== 'web' && config.port === null)
      context.log.reject(
        draft.at,
        `services.${config.name}.healthcheck is a path, but the service has no port.`,
        'Add the port, or write a command as test.',
      )
    checkReplicas(draft, context)
    checkAutoscaling(draft, draft === main, context)
    checkDependencies(draft, names, context)
  }
  checkCycle(drafts, context)
  const configs = drafts.map(({ config }) => config)
  // What others wait for to complete is not started again when it has.
  for (const { service, condition } of configs.flatMap(({ depends_on }) => depends_on)) {
    const target = condition === 'completed' ? configs.find(({ name }) => name === service) : undefined
    if (target) target.restart = 'on_failure'
  }
  return configs
}

/** A further port has an address with the name of its service, which may be taken by another service. */
function finishPorts({ config, at }: ServiceDraft, drafts: readonly ServiceDraft[], { log }: ConfigContext): void {
  const ports = [...new Set(config.ports)].filter((port) => port !== config.port)
  delete config.ports
  if (ports.length === 0) return
  config.ports = ports
  if (ports.length > limits.public_ports)
    log.reject(at, `services.${config.name}.ports has ${ports.length} ports; at most ${limits.public_ports} have an address.`, 'Remove some of them.')
  for (const port of ports) {
    const label = createLabel(config.name, port)
    const other = drafts.find(
      (one) =>
        createLabel(one.config.name) === label ||
        (one.config.name !== config.name && one.config.ports?.some((own) => createLabel(one.config.name, own) === label)),
    )
    if (other)
      log.reject(
        at,
        `services.${config.name}.ports: ${port} would have the same address as the service ${quote(other.config.name)}, ${label}--SLUG.localhost.`,
        'Rename one of the services, or remove the port.',
      )
  }
}

const createLabel = (service: string, port?: number): string => `${service.replaceAll('_', '-')}${port === undefined ? '' : `-${port}`}`

function decideKind({ config, wants_public, speaks_http }: ServiceDraft, isMain: boolean): ServiceConfig['kind'] {
  if (config.schedule !== null) return 'cron'
  if (isMain || wants_public === true) return 'web'
  if (config.source.kind === 'image') return 'image'
  return config.port === null || !speaks_http ? 'worker' : 'web'
}

/** Of a service that cannot have several: homeport.yaml is rejected, and other files, which were written for other platforms, are noted. */
function checkReplicas({ config, at }: ServiceDraft, { log, is_strict }: ConfigContext): void {
  const { name, replicas, kind, volumes } = config
  if ((replicas ?? 1) <= 1 || kind === 'cron' || (kind !== 'image' && volumes.length === 0)) return
  const reason = kind === 'image' ? 'a prebuilt image without an address' : 'a service with volumes, which replicas would write at the same time,'
  if (is_strict === true) log.reject(at, `services.${name}.replicas is ${replicas}, but ${reason} runs once.`, 'Remove replicas, or set it to 1.')
  else log.note(at, `services.${name} runs once and not as ${replicas} replicas, because it is ${reason.replace(/,$/, '')}`)
}

function checkAutoscaling({ config, at }: ServiceDraft, isMain: boolean, { log }: ConfigContext): void {
  const { name, autoscaling, replicas, kind, volumes } = config
  if (!autoscaling || kind === 'cron') return
  const label = `services.${name}.autoscaling`
  if (replicas !== null) log.reject(at, `services.${name} has replicas and autoscaling.`, 'Keep one of them.')
  else if (!isMain)
    log.reject(at, `${label}: only the service that answers on the project’s address is scaled automatically.`, 'Write replicas in its place.')
  else if (volumes.length > 0)
    log.reject(at, `${label}: a service with volumes, which replicas would write at the same time, runs once.`, 'Remove autoscaling, or the volumes.')
}

function checkDependencies({ config, at, depends_on_at }: ServiceDraft, names: readonly string[], { log }: ConfigContext): void {
  config.depends_on = config.depends_on.filter(({ service }) => {
    if (names.includes(service) && service !== config.name) return true
    const reason = service === config.name ? 'the service itself' : 'not a service of this file'
    log.reject(
      depends_on_at.get(service) ?? at,
      `services.${config.name}.depends_on: ${quote(service)} is ${reason}.`,
      service === config.name ? 'Remove it.' : explainNearest(service, names),
    )
    return false
  })
}

function checkCycle(drafts: readonly ServiceDraft[], { log }: ConfigContext): void {
  const next = new Map(drafts.map(({ config }) => [config.name, config.depends_on.map(({ service }) => service)]))
  const done = new Set<string>()
  const walk = (name: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name]
    if (done.has(name)) return undefined
    for (const service of next.get(name) ?? []) {
      const cycle = walk(service, [...path, name])
      if (cycle) return cycle
    }
    done.add(name)
    return undefined
  }
  for (const { config, at } of drafts) {
    const cycle = walk(config.name, [])
    if (!cycle) continue
    log.reject(at, `Services wait for each other: ${cycle.join(' → ')}.`, 'Remove one of these entries of depends_on.')
    return
  }
}

/** One sentence per service for the build log. */
export function explainServices(config: Pick<ProjectConfig, 'services' | 'main' | 'release'>): string[] {
  const sentences = config.services.map((service) => {
    const parts = [
      service.source.kind === 'image'
        ? `image ${service.source.image}`
        : `built from ${service.source.directory === '.' ? 'the source' : service.source.directory}`,
      ...((service.replicas ?? 1) > 1 ? [`${service.replicas} replicas`] : []),
      ...(service.autoscaling ? [`${service.autoscaling.min} to ${service.autoscaling.max} replicas`] : []),
      ...(service.port === null ? [] : [`port ${service.port}`]),
      ...(service.ports ? [`additional ${service.ports.length === 1 ? 'port' : 'ports'} ${service.ports.join(', ')}, each with an address`] : []),
      ...(service.schedule === null ? [] : [`at ${service.schedule}${service.time_zone === null ? '' : ` ${service.time_zone}`}`]),
      ...(service.name === config.main ? ['answers on the project’s address'] : service.is_public ? ['has its own address'] : []),
    ]
    return `${service.name} (${service.kind}): ${parts.join(', ')}`
  })
  const release = config.release === null ? [] : [toLine(`Release: ${config.release.command.join(' ')}, in ${config.release.service}`)]
  return [...sentences, ...release]
}
