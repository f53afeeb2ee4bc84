import { type Project, projectOperations } from '../contract/projects.ts'
import { slugFor } from '../lib/slug.ts'
import type { Client } from './client.ts'
import { type Call, type Command, exitCodes, text, UsageError, words } from './command.ts'
import { ago, paint, table } from './terminal.ts'

const settings = projectOperations.updateProject.body.shape

export const projects: Command = {
  summary: 'Lists, makes, shows, changes, opens, stops and deletes projects.',
  forms: ['projects', 'projects create NAME', 'projects set SLUG KEY=VALUE ...', 'projects show|open|stop|delete SLUG'],
  options: {
    slug: '=SLUG the short name of a new project (default: from NAME)',
    repo: '=URL the git address of a new project',
    branch: '=NAME its branch',
    yes: 'delete without asking',
  },
  more: `Settings:\n${Object.entries(settings)
    .map(([key, schema]) => `  ${key.padEnd(20)}${schema.description ?? ''}`.trimEnd())
    .join('\n')}\nA setting that is changed counts from the next deployment on.`,
  async run(call) {
    const verb = call.words[0]
    if (verb === undefined || verb === 'list') return list(call)
    if (verb === 'set') return set(call)
    if (!Object.hasOwn(verbs, verb)) throw new UsageError(`“${verb}” is none of create, set, show, open, stop, delete.`)
    const [, subject = ''] = words(call, verb, verb === 'create' ? 'NAME' : 'SLUG')
    return verbs[verb as keyof typeof verbs](call, subject)
  },
}

const verbs = { create, show, open, stop, delete: remove }

async function list(call: Call): Promise<number> {
  words(call, '[list]')
  const client = call.connect()
  const all = await everyProject(client)
  if (call.json) call.terminal.out(JSON.stringify({ projects: all }))
  else if (all.length === 0) call.terminal.out('No projects yet. Make one with: homeport deploy PATH')
  else {
    const edgeUrl = await edgeUrlOf(client)
    const rows = all.map((project) => [
      project.slug,
      stateOf(project),
      project.status === 'live' ? addressOf(edgeUrl, project.slug) : '-',
      ago(project.updated_at, call.clock.now()),
    ])
    for (const line of table(call.terminal, ['SLUG', 'STATUS', 'ADDRESS', 'CHANGED'], rows)) call.terminal.out(line)
  }
  return exitCodes.done
}

const stateOf = (project: Project): string => (project.is_cold ? `${project.status}, cold` : project.status)

async function create(call: Call, name: string): Promise<number> {
  const slug = text(call.flags, 'slug') ?? slugFor(name)
  const { project } = await call.connect().call('createProject', {
    body: { name, slug, repo_url: text(call.flags, 'repo'), repo_branch: text(call.flags, 'branch') },
  })
  call.terminal.out(call.json ? JSON.stringify({ project }) : `Made ${project.slug}.`)
  return exitCodes.done
}

async function set(call: Call): Promise<number> {
  const [, slug, ...pairs] = call.words
  if (slug === undefined || pairs.length === 0) throw new UsageError(slug === undefined ? 'SLUG is missing.' : 'KEY=VALUE is missing.')
  const body = Object.fromEntries(pairs.map(readPair))
  const { project } = await call.connect().call('updateProject', { params: { slug }, body })
  if (call.json) call.terminal.out(JSON.stringify({ project }))
  else for (const key of Object.keys(body)) call.terminal.out(`${key} is now ${String(project[key as keyof Project])}.`)
  return exitCodes.done
}

/** As the API takes it; whether the value is allowed is for the instance to say. */
function readPair(pair: string): [string, string | number | boolean | null] {
  const [, key = '', value = ''] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
  if (key === '') throw new UsageError(`“${pair}” is no setting. Write it as key=value, such as root_directory=apps/web.`)
  const schema = Object.hasOwn(settings, key) ? settings[key as keyof typeof settings] : undefined
  if (!schema) throw new UsageError(`There is no setting “${key}”. There are ${Object.keys(settings).join(', ')}.`)
  if (value === 'none' && schema.safeParse(null).success) return [key, null]
  if (schema.safeParse(true).success) {
    if (value !== 'true' && value !== 'false') throw new UsageError(`${key} is true or false.`)
    return [key, value === 'true']
  }
  if (key !== 'memory_limit_mb') return [key, value]
  if (!/^\d+$/.test(value)) throw new UsageError(`${key} is a whole number of megabytes.`)
  return [key, Number(value)]
}

async function show(call: Call, slug: string): Promise<number> {
  const client = call.connect()
  const { project } = await client.call('getProject', { params: { slug } })
  if (call.json) {
    call.terminal.out(JSON.stringify({ project }))
    return exitCodes.done
  }
  const facts: [string, string | null][] = [
    ['status', stateOf(project)],
    ['address', addressOf(await edgeUrlOf(client), slug)],
    ['repository', project.repo_url],
    ['branch', project.repo_url === null ? null : project.repo_branch],
    ['folder', project.root_directory],
    ['node', project.node_version],
    ['install', project.install_command],
    ['build', project.build_command],
    ['memory', `${project.memory_limit_mb} MB`],
    ['last request', project.last_request_at === null ? 'none yet' : ago(project.last_request_at, call.clock.now())],
    ['created', project.created_at],
  ]
  call.terminal.out(paint(call.terminal, 'bold', project.name))
  for (const [name, value] of facts) if (value !== null) call.terminal.out(`  ${name.padEnd(14)}${value}`)
  return exitCodes.done
}

async function open(call: Call, slug: string): Promise<number> {
  const client = call.connect()
  await client.call('getProject', { params: { slug } })
  const url = addressOf(await edgeUrlOf(client), slug)
  const opened = !call.json && (await call.openUrl(url, { is_secret: false }))
  call.terminal.out(call.json ? JSON.stringify({ url }) : opened ? `Opened ${url}` : url)
  return exitCodes.done
}

async function stop(call: Call, slug: string): Promise<number> {
  const client = call.connect()
  const answer = await client.call('stopProject', { params: { slug } })
  if (call.json) call.terminal.out(JSON.stringify(answer))
  else {
    const { is_connected } = (await client.call('getProject', { params: { slug } })).project
    call.terminal.out(`Stopped ${slug}. A deployment brings it back: homeport deploy ${is_connected ? '--git' : 'PATH'} --project ${slug}`)
  }
  return exitCodes.done
}

async function remove(call: Call, slug: string): Promise<number> {
  const client = call.connect()
  // Only a person is asked: a script has said what it wants.
  if (call.terminal.is_interactive && call.flags.yes !== true) {
    const typed = await call.ask(`This deletes ${slug} with all its deployments, for good. Type its name to go on: `)
    if (typed?.trim() !== slug) {
      call.terminal.err('Nothing was deleted.')
      return exitCodes.refused
    }
  }
  await client.call('deleteProject', { params: { slug } })
  call.terminal.out(call.json ? JSON.stringify({ deleted: slug }) : `Deleted ${slug}.`)
  return exitCodes.done
}

export async function everyProject(client: Client): Promise<Project[]> {
  const all: Project[] = []
  let cursor: string | undefined
  do {
    const page = await client.call('listProjects', { query: { limit: '100', cursor } })
    all.push(...page.projects)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return all
}

export async function edgeUrlOf(client: Client): Promise<string> {
  return (await client.call('getSession', {})).instance.edge_url
}

/** `http://my-app.localhost:4680`, whatever the edge is called itself. */
export function addressOf(edgeUrl: string, slug: string): string {
  const { protocol, hostname, port } = new URL(edgeUrl)
  const name = /^(\d+\.){3}\d+$|^\[/.test(hostname) ? 'localhost' : hostname
  return `${protocol}//${slug}.${name}${port === '' ? '' : `:${port}`}`
}
