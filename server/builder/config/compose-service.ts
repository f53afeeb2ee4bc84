import { cpus, maxReplicas, memory_mb, parseMemory } from '../../contract/homeport-yaml.ts'
import { fillCommand, readCommand } from './compose-command.ts'
import { readComposeSource } from './compose-build.ts'
import { addComposeFiles, type ComposeFiles } from './compose-files.ts'
import { checkKeys, serviceKeys, serviceRules } from './compose-keys.ts'
import { readPorts, type PublishedPort } from './compose-ports.ts'
import { checkIsolation } from './compose-isolation.ts'
import { addServiceNetworks } from './compose-network.ts'
import { addEnvironment, addEnvironmentFile, readNamedValues } from './environment.ts'
import { readHealthCheck } from './health-check.ts'
import { readBoolean, readEntries, readItems, readLooseText, readText, valueOf, type ValueContext } from './node-values.ts'
import type { ServiceDraft } from './service-draft.ts'
import { addMount, parseMount, type MountInput } from './volumes.ts'
import { quote, type YamlMap, type YamlNode } from './yaml-tree.ts'

export interface ComposeService {
  draft: ServiceDraft
  /** The HTTP ports that the service publishes, best first. */
  ports: PublishedPort[]
}

export interface ComposeContext extends ValueContext {
  networks: Set<string>
  files: ComposeFiles
}

/** Reads one service of a compose file into its draft. */
export async function readComposeService(draft: ServiceDraft, service: YamlMap, context: ComposeContext): Promise<ComposeService> {
  const { config } = draft
  const { log } = context
  const label = `services.${config.name}`
  draft.speaks_http = false
  checkKeys(service, label, serviceKeys, serviceRules, context)
  checkIsolation(service, label, context)
  await readComposeSource(draft, service, label, context)
  addServiceNetworks(draft, service, label, context)
  await addVariables(draft, service, label, context)
  config.command = readCommand(valueOf(service, 'command'), `${label}.command`, config, context)
  config.entrypoint = readCommand(valueOf(service, 'entrypoint'), `${label}.entrypoint`, config, context)
  if (config.command?.length === 0) config.command = null
  const directory = readText(valueOf(service, 'working_dir'), `${label}.working_dir`, context)
  if (directory !== undefined && !directory.startsWith('/'))
    log.reject(valueOf(service, 'working_dir')!.at, `${label}.working_dir is not an absolute path.`, 'Write a path that starts with /.')
  config.working_directory = directory ?? null
  for (const item of readItems(valueOf(service, 'volumes'), `${label}.volumes`, context)) {
    const mount = readMount(item, `${label}.volumes`, context)
    if (mount) await addMount(draft, mount, context)
  }
  addComposeFiles(draft, service, context.files, context)
  readDependencies(draft, service, label, context)
  const check = service.entries.get('healthcheck')?.value
  if (check && !(check.kind === 'scalar' && check.value === null))
    config.health_check = readHealthCheck(
      check,
      `${label}.healthcheck`,
      context,
      (words, node) => fillCommand(words, node, `${label}.healthcheck.test`, config, context),
      (value, name) => readText(value, name, context),
    )
  readRestart(draft, service, label, context)
  readLimits(draft, service, label, context)
  return { draft, ports: readServicePorts(draft, service, label, context) }
}

async function addVariables({ config }: ServiceDraft, service: YamlMap, label: string, context: ComposeContext): Promise<void> {
  for (const item of readItems(valueOf(service, 'env_file'), `${label}.env_file`, context)) {
    if (item.kind === 'map') checkKeys(item, `${label}.env_file`, ['path', 'required', 'format'], {}, context)
    const path = readText(item.kind === 'map' ? valueOf(item, 'path') : item, `${label}.env_file`, context)
    const isRequired = item.kind !== 'map' || readBoolean(valueOf(item, 'required'), `${label}.env_file`, context) !== false
    if (path !== undefined) await addEnvironmentFile(config, path, item.at, isRequired, context)
  }
  const environment = valueOf(service, 'environment')
  if (environment) addEnvironment(config, readNamedValues(environment, context, `${label}.environment`), context.defaults, context)
}

function readMount(item: YamlNode, label: string, context: ComposeContext): MountInput | undefined {
  const { log } = context
  if (item.kind === 'scalar') {
    const text = readText(item, label, context)
    return text === undefined ? undefined : parseMount(text, item.at, label, context)
  }
  if (item.kind === 'list') {
    log.reject(item.at, `${label} has a list as an item.`, 'Write NAME:/path, or a map with type, source and target.')
    return undefined
  }
  checkKeys(item, label, ['type', 'source', 'target', 'read_only', 'bind', 'volume', 'tmpfs', 'consistency'], {}, context)
  const kind = readText(valueOf(item, 'type'), label, context) ?? 'volume'
  const source = readText(valueOf(item, 'source'), label, context) ?? null
  const target = readText(valueOf(item, 'target'), label, context) ?? ''
  const bind = valueOf(item, 'bind')
  const volume = valueOf(item, 'volume')
  if (bind?.kind === 'map')
    checkKeys(bind, `${label}.bind`, ['create_host_path', 'selinux'], { propagation: propagationRule, recursive: propagationRule }, context)
  if (volume?.kind === 'map')
    checkKeys(
      volume,
      `${label}.volume`,
      ['nocopy', 'labels'],
      { subpath: { reject: 'uses a part of a volume', hint: 'Use a separate volume.' } },
      context,
    )
  if (kind === 'tmpfs') {
    log.note(item.at, `${label}: ${target} has no effect. The folder is part of the container’s own files.`)
    return undefined
  }
  if (kind !== 'volume' && kind !== 'bind') {
    log.reject(
      item.at,
      `${label}: ${quote(kind)} is not a kind of volume that Homeport has.`,
      'Use type: volume, or a file of the source with type: bind.',
    )
    return undefined
  }
  if (kind === 'bind' && source === null) {
    log.reject(item.at, `${label} has no source.`, 'Add source: with a path of the source.')
    return undefined
  }
  // A bind mount by name is a path relative to the file.
  const path = kind === 'bind' && source !== null && !/^[./~\\]|^[A-Za-z]:/.test(source) ? `./${source}` : source
  return { kind, source: path, target, is_read_only: readBoolean(valueOf(item, 'read_only'), label, context) ?? false, at: item.at }
}

const propagationRule = { reject: 'shares mounts with this machine', hint: 'Remove the line.' }

const conditions: Record<string, 'started' | 'healthy' | 'completed'> = {
  service_started: 'started',
  service_healthy: 'healthy',
  service_completed_successfully: 'completed',
}

function readDependencies(draft: ServiceDraft, service: YamlMap, label: string, context: ComposeContext): void {
  const { config, depends_on_at } = draft
  const add = (name: string, condition: 'started' | 'healthy' | 'completed', at: YamlNode['at']) => {
    depends_on_at.set(name, at)
    const earlier = config.depends_on.find((one) => one.service === name)
    if (!earlier) config.depends_on.push({ service: name, condition })
    else if (earlier.condition === 'started') earlier.condition = condition
  }
  const node = valueOf(service, 'depends_on')
  if (node?.kind === 'map') {
    for (const { key, at, value } of readEntries(node, `${label}.depends_on`, context)) {
      if (value.kind === 'map') checkKeys(value, `${label}.depends_on.${key}`, ['condition', 'restart', 'required'], {}, context)
      const condition =
        value.kind === 'map' ? (readText(valueOf(value, 'condition'), `${label}.depends_on.${key}`, context) ?? 'service_started') : 'service_started'
      if (!Object.hasOwn(conditions, condition))
        context.log.reject(at, `${label}.depends_on: ${quote(condition)} is not a condition.`, `Use one of ${Object.keys(conditions).join(', ')}.`)
      add(key, conditions[condition] ?? 'started', at)
    }
  } else {
    for (const item of readItems(node, `${label}.depends_on`, context)) {
      const name = readText(item, `${label}.depends_on`, context)
      if (name !== undefined) add(name, 'started', item.at)
    }
  }
  for (const item of readItems(valueOf(service, 'links'), `${label}.links`, context)) {
    const [name = ''] = (readText(item, `${label}.links`, context) ?? '').split(':')
    if (name !== '') add(name, 'started', item.at)
  }
}

function readRestart({ config }: ServiceDraft, service: YamlMap, label: string, context: ComposeContext): void {
  const text = readText(valueOf(service, 'restart'), `${label}.restart`, context)
  // YAML 1.1 reads an unquoted no as false.
  const policy = text?.replace(/:\d+$/, '')
  if (policy === undefined || policy === 'always' || policy === 'unless-stopped') return
  if (policy === 'no' || policy === 'false' || policy === 'on-failure') config.restart = 'on_failure'
  else
    context.log.reject(
      valueOf(service, 'restart')!.at,
      `${label}.restart: ${quote(policy)} is not a policy.`,
      'Use always, unless-stopped, on-failure or "no".',
    )
}

function readLimits({ config }: ServiceDraft, service: YamlMap, label: string, context: ComposeContext): void {
  const deploy = valueOf(service, 'deploy')
  const limits = deploy?.kind === 'map' ? readDeploy(config, deploy, `${label}.deploy`, context) : undefined
  const memory = valueOf(service, 'mem_limit') ?? (limits && valueOf(limits, 'memory'))
  const share = valueOf(service, 'cpus') ?? (limits && valueOf(limits, 'cpus'))
  const memoryText = readText(memory, `${label}: the memory limit`, context)
  if (memory && memoryText !== undefined) {
    const size = parseMemory(memoryText)
    if (size === undefined || size > memory_mb.max)
      context.log.reject(memory.at, `${label}: ${quote(memoryText)} is not an amount of memory.`, 'Write it as 512m or 1g.')
    else if (size > 0) config.memory_mb = Math.max(size, memory_mb.min)
  }
  const shareText = readText(share, `${label}: the CPU limit`, context)
  if (share && shareText !== undefined) {
    const count = /^\d{1,4}(\.\d{1,6})?$|^\.\d{1,6}$/.test(shareText) ? Number(shareText) : NaN
    if (!(count <= cpus.max)) context.log.reject(share.at, `${label}: ${quote(shareText)} is not a number of CPUs.`, 'Write it as "0.5".')
    else if (count > 0) config.cpus = Math.max(count, cpus.min)
  }
  const scale = valueOf(service, 'scale') ?? (deploy?.kind === 'map' ? valueOf(deploy, 'replicas') : undefined)
  const count = readText(scale, `${label}: the number of replicas`, context)
  if (scale && count !== undefined) {
    if (!/^\d{1,4}$/.test(count) || Number(count) > maxReplicas)
      context.log.reject(scale.at, `${label}: ${quote(count)} is not a number of replicas from 0 to ${maxReplicas}.`, 'Write a smaller number.')
    else config.replicas = Number(count)
  }
}

const deployNote = { note: 'has no effect here.' }

function readDeploy(config: ServiceDraft['config'], deploy: YamlMap, label: string, context: ComposeContext): YamlMap | undefined {
  checkKeys(
    deploy,
    label,
    ['replicas', 'resources', 'restart_policy'],
    {
      mode: deployNote,
      placement: deployNote,
      labels: deployNote,
      update_config: deployNote,
      rollback_config: deployNote,
      endpoint_mode: deployNote,
    },
    context,
  )
  const policy = valueOf(deploy, 'restart_policy')
  if (policy?.kind === 'map' && /^(none|on-failure)$/.test(readLooseText(valueOf(policy, 'condition'), context))) config.restart = 'on_failure'
  const resources = valueOf(deploy, 'resources')
  if (resources?.kind !== 'map') return undefined
  checkKeys(resources, `${label}.resources`, ['limits', 'reservations'], {}, context)
  const reservations = valueOf(resources, 'reservations')
  const devices = { reject: 'opens devices of this machine', hint: 'Remove the line.' }
  if (reservations?.kind === 'map')
    checkKeys(reservations, `${label}.resources.reservations`, ['cpus', 'memory'], { devices, generic_resources: devices }, context)
  const limits = valueOf(resources, 'limits')
  if (limits?.kind !== 'map') return undefined
  checkKeys(limits, `${label}.resources.limits`, ['cpus', 'memory'], { pids: deployNote, devices }, context)
  return limits
}

/** The port on which the service listens: a published one, else an exposed one. Returns the published HTTP ports. */
function readServicePorts({ config }: ServiceDraft, service: YamlMap, label: string, context: ComposeContext): PublishedPort[] {
  const { http, others } = readPorts(valueOf(service, 'ports'), `${label}.ports`, context)
  for (const { target, at } of others)
    context.log.note(
      at,
      `${label}.ports: ${target} is not published, because it is not a port for HTTP. Services reach it as ${config.name}:${target}, and commands of homeport run do too.`,
    )
  const exposed = readItems(valueOf(service, 'expose'), `${label}.expose`, context)
    .map((item) => Number(/^\d{1,5}/.exec(readLooseText(item, context))?.[0] ?? 0))
    .find((port) => port > 0 && port < 65_536)
  config.port = http[0]?.target ?? exposed ?? null
  return http
}
