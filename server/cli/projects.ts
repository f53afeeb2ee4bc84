import { ApiError } from '../client/api-error.ts'
import { type Watching, watchOperations } from '../contract/previews.ts'
import { type Project, projectOperations } from '../contract/projects.ts'
import { type ProjectSettings, projectSettingsOperations } from '../contract/project-settings.ts'
import { asleepLabel, describeAutoscaling, projectStatusLabels } from '../contract/labels.ts'
import { slugify } from '../lib/slug.ts'
import type { ApiClient } from './client.ts'
import { type CommandContext, type CliCommand, exitCodes, stringFlag, UsageError, requirePositionals, unknownSubcommand } from './command.ts'
import { formatRelativeTime, colorize, formatTable } from './terminal.ts'

/** The settings of a project by the operation that changes them. */
const settingsByOperation = {
  updateProject: projectOperations.updateProject.body.shape,
  updateProjectSettings: projectSettingsOperations.updateProjectSettings.body.shape,
  updateWatching: watchOperations.updateWatching.body.shape,
} as const
type SettingsOperation = keyof typeof settingsByOperation
const settingsOperations = Object.keys(settingsByOperation) as SettingsOperation[]
const projectSettings = new Map<string, { operation: SettingsOperation; schema: { safeParse(value: unknown): { success: boolean } } }>(
  settingsOperations.flatMap((operation) =>
    Object.entries(settingsByOperation[operation]).map(([key, schema]) => [key, { operation, schema }] as const),
  ),
)

export const projects: CliCommand = {
  summary: 'Lists, creates, shows, changes, opens, stops and deletes projects.',
  usage: ['projects', 'projects create NAME', 'projects set SLUG KEY=VALUE ...', 'projects show|open|stop|delete SLUG'],
  options: {
    slug: '=SLUG slug of the new project (default: from NAME)',
    repo: '=URL git repository of the new project',
    branch: '=NAME production branch of the new project',
    yes: 'delete without asking',
  },
  details: `Settings: ${[...projectSettings.keys()].join(', ')}.\nWhat each does: homeport help project-settings. Most take effect with the next deployment. The value none resets a setting that can be empty, and a list is separated by commas.`,
  async run(context) {
    const subcommand = context.positionals[0]
    if (subcommand === undefined || subcommand === 'list') return list(context)
    if (subcommand === 'set') return set(context)
    if (!Object.hasOwn(subcommands, subcommand)) throw unknownSubcommand(subcommand, ['create', 'set', 'show', 'open', 'stop', 'delete'])
    const [, subject = ''] = requirePositionals(context, subcommand, subcommand === 'create' ? 'NAME' : 'SLUG')
    return subcommands[subcommand as keyof typeof subcommands](context, subject)
  },
}

const subcommands = { create, show, open, stop, delete: remove }

async function list(context: CommandContext): Promise<number> {
  requirePositionals(context, '[list]')
  const client = context.connect()
  const all = await listAllProjects(client)
  if (context.is_json) context.terminal.out(JSON.stringify({ projects: all }))
  else if (all.length === 0) context.terminal.out('No projects yet. Create one with: homeport deploy PATH')
  else {
    const edgeUrl = await fetchEdgeUrl(client)
    const rows = all.map((project) => [
      project.slug,
      formatStatus(project),
      project.status === 'live' ? buildProjectUrl(edgeUrl, project.slug) : '-',
      formatRelativeTime(project.updated_at, context.clock.now()),
    ])
    for (const line of formatTable(context.terminal, ['SLUG', 'STATUS', 'URL', 'UPDATED'], rows)) context.terminal.out(line)
  }
  return exitCodes.success
}

const formatStatus = (project: Project): string => (project.status === 'live' && project.is_cold ? asleepLabel : projectStatusLabels[project.status])

async function create(context: CommandContext, name: string): Promise<number> {
  const slug = stringFlag(context.flags, 'slug') ?? slugify(name)
  const { project } = await context.connect().call('createProject', {
    body: { name, slug, repo_url: stringFlag(context.flags, 'repo'), repo_branch: stringFlag(context.flags, 'branch') },
  })
  context.terminal.out(context.is_json ? JSON.stringify({ project }) : `Created ${project.slug}.`)
  return exitCodes.success
}

async function set(context: CommandContext): Promise<number> {
  const [, slug, ...pairs] = context.positionals
  if (slug === undefined || pairs.length === 0) throw new UsageError(slug === undefined ? 'SLUG is missing.' : 'KEY=VALUE is missing.')
  const changes = Object.groupBy(pairs.map(parseSetting), ({ operation }) => operation)
  const client = context.connect()
  const answer: Record<string, Record<string, unknown>> = {}
  for (const operation of settingsOperations) {
    const changed = changes[operation]
    if (!changed) continue
    const body = Object.fromEntries(changed.map(({ key, value }) => [key, value]))
    Object.assign(answer, await client.call(operation, { params: { slug }, body }))
    if (!context.is_json) for (const { key } of changed) context.terminal.out(`${key} is now ${formatSetting(findValue(answer, key))}.`)
  }
  if (context.is_json) context.terminal.out(JSON.stringify(answer))
  return exitCodes.success
}

const findValue = (answer: Record<string, Record<string, unknown>>, key: string): unknown =>
  Object.values(answer).find((resource) => Object.hasOwn(resource, key))?.[key]

const formatSetting = (value: unknown): string => (value === null || (Array.isArray(value) && value.length === 0) ? 'none' : String(value))

type SettingInput = string | number | boolean | null | string[] | number[]

/** Converts `key=value` to the type the API expects. The instance validates the value. */
function parseSetting(pair: string): { operation: SettingsOperation; key: string; value: SettingInput } {
  const [, key = '', value = ''] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
  if (key === '') throw new UsageError(`“${pair}” is not a setting. Use key=value, such as root_directory=apps/web.`)
  const setting = projectSettings.get(key)
  if (!setting) throw new UsageError(`Unknown setting “${key}”. Settings: ${[...projectSettings.keys()].join(', ')}.`)
  const { operation, schema } = setting
  const accepts = (example: unknown) => schema.safeParse(example).success
  if (accepts([])) {
    const items = value === 'none' ? [] : value.split(',').map((item) => item.trim())
    if (!accepts([100])) return { operation, key, value: items }
    if (!items.every((item) => /^\d+$/.test(item))) throw new UsageError(`${key} must be a list of numbers, such as 9090,9091.`)
    return { operation, key, value: items.map(Number) }
  }
  if (value === 'none' && accepts(null)) return { operation, key, value: null }
  if (accepts(true)) {
    if (value !== 'true' && value !== 'false') throw new UsageError(`${key} must be true or false.`)
    return { operation, key, value: value === 'true' }
  }
  if (accepts({ min: 1, max: 2, target_concurrency: 20 }))
    throw new UsageError(`${key} is a range: homeport scale SLUG --min 1 --max 5 --target 20. ${key}=none turns it off.`)
  // Every number among the settings may be 10 or 100.
  if (!accepts(10) && !accepts(100)) return { operation, key, value }
  if (!/^\d+(\.\d+)?$/.test(value)) throw new UsageError(`${key} must be a number.`)
  return { operation, key, value: Number(value) }
}

async function show(context: CommandContext, slug: string): Promise<number> {
  const client = context.connect()
  const { project } = await client.call('getProject', { params: { slug } })
  const more = await readMoreSettings(client, slug)
  if (context.is_json) {
    context.terminal.out(JSON.stringify({ project, ...more }))
    return exitCodes.success
  }
  const facts: [string, string | null][] = [
    ['status', formatStatus(project)],
    ['url', buildProjectUrl(await fetchEdgeUrl(client), slug)],
    ['repository', project.repo_url],
    ['branch', project.repo_url === null ? null : project.repo_branch],
    ['folder', project.root_directory],
    ['node', project.node_version],
    ['install', project.install_command],
    ['build', project.build_command],
    ['memory', `${project.memory_limit_mb} MB`],
    ['always warm', project.always_warm ? 'yes' : 'no'],
    ['edge cache', project.caching_enabled ? 'on' : 'off'],
    ...(more ? formatMoreSettings(more) : []),
    ['last request', project.last_request_at === null ? 'none yet' : formatRelativeTime(project.last_request_at, context.clock.now())],
    ['created', project.created_at],
  ]
  context.terminal.out(colorize(context.terminal, 'bold', project.name))
  for (const [name, value] of facts) if (value !== null) context.terminal.out(`  ${name.padEnd(17)}${value}`)
  return exitCodes.success
}

interface MoreSettings {
  settings: ProjectSettings
  watching: Watching
}

/** Undefined for a hosted account, which has only the settings of /v1. */
async function readMoreSettings(client: ApiClient, slug: string): Promise<MoreSettings | undefined> {
  const params = { slug }
  try {
    const [{ settings }, { watching }] = await Promise.all([client.call('getProjectSettings', { params }), client.call('getWatching', { params })])
    return { settings, watching }
  } catch (error) {
    if (error instanceof ApiError && error.code === 'route_not_found') return undefined
    throw error
  }
}

const formatMoreSettings = ({ settings, watching }: MoreSettings): [string, string | null][] => [
  ['cpu', settings.cpu_limit === null ? 'default' : `${settings.cpu_limit} ${settings.cpu_limit === 1 ? 'core' : 'cores'}`],
  ['health check', `${settings.health_path}, up to ${settings.health_timeout_s} s`],
  ['replicas', `${settings.replicas}${settings.sticky_sessions ? ', sticky sessions' : ''}`],
  ['node labels', settings.node_labels.length === 0 ? null : settings.node_labels.join(', ')],
  ['autoscaling', settings.autoscaling && describeAutoscaling(settings.autoscaling)],
  ['additional ports', settings.public_ports.length === 0 ? null : settings.public_ports.join(', ')],
  ['pushes', watching.deploys_pushes ? 'deployed' : 'not deployed'],
  ['watch paths', settings.watch_paths.length === 0 ? null : settings.watch_paths.join(', ')],
  ['apps', settings.apps.length === 0 ? null : settings.apps.join(', ')],
  ['traces', settings.tracing ? 'on' : 'off'],
  ['previews', watching.previews ? (watching.preview_databases ? 'on, with a database each' : 'on') : 'off'],
  ['pull requests', watching.pull_requests ? `previews ${watching.pull_request_secrets ? 'with' : 'without'} secrets` : 'no previews'],
  ['preview volumes', settings.preview_volumes === 'snapshot' ? 'a snapshot of production' : 'empty'],
]

async function open(context: CommandContext, slug: string): Promise<number> {
  const client = context.connect()
  await client.call('getProject', { params: { slug } })
  const url = buildProjectUrl(await fetchEdgeUrl(client), slug)
  const isOpened = !context.is_json && (await context.openUrl(url, { is_secret: false }))
  context.terminal.out(context.is_json ? JSON.stringify({ url }) : isOpened ? `Opened ${url}` : url)
  return exitCodes.success
}

async function stop(context: CommandContext, slug: string): Promise<number> {
  const client = context.connect()
  const response = await client.call('stopProject', { params: { slug } })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else {
    const { is_connected } = (await client.call('getProject', { params: { slug } })).project
    context.terminal.out(`Stopped ${slug}. Start it again with: homeport deploy ${is_connected ? '--git' : 'PATH'} --project ${slug}`)
  }
  return exitCodes.success
}

async function remove(context: CommandContext, slug: string): Promise<number> {
  const client = context.connect()
  // Only interactive use asks for confirmation.
  if (context.terminal.is_interactive && context.flags.yes !== true) {
    const typed = await context.prompt(`This permanently deletes ${slug} and all its deployments. Type its slug to confirm: `)
    if (typed?.trim() !== slug) {
      context.terminal.err('Nothing was deleted.')
      return exitCodes.failure
    }
  }
  await client.call('deleteProject', { params: { slug } })
  context.terminal.out(context.is_json ? JSON.stringify({ deleted: slug }) : `Deleted ${slug}.`)
  return exitCodes.success
}

export async function listAllProjects(client: ApiClient): Promise<Project[]> {
  const all: Project[] = []
  let cursor: string | undefined
  do {
    const page = await client.call('listProjects', { query: { limit: '100', cursor } })
    all.push(...page.projects)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return all
}

export async function fetchEdgeUrl(client: ApiClient): Promise<string> {
  const { apps_url, edge_url } = (await client.call('getSession', {})).instance
  return apps_url ?? edge_url
}

/** Such as `http://my-app.localhost:4680`, or below the apps domain. If the edge URL has an IP address, the host is `localhost`. */
export function buildProjectUrl(edgeUrl: string, slug: string): string {
  const { protocol, hostname, port } = new URL(edgeUrl)
  const name = /^(\d+\.){3}\d+$|^\[/.test(hostname) ? 'localhost' : hostname
  return `${protocol}//${slug}.${name}${port === '' ? '' : `:${port}`}`
}
