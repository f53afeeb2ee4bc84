import type { Project } from '../contract/projects.ts'
import type { Client } from './client.ts'
import { type Call, type Command, exitCodes, text, UsageError, words } from './command.ts'
import { ago, paint, table } from './terminal.ts'

export const projects: Command = {
  summary: 'Lists, makes, shows, opens, stops and deletes projects.',
  forms: ['projects', 'projects create NAME', 'projects show|open|stop|delete SLUG'],
  options: {
    slug: '=SLUG the short name of a new project (default: from NAME)',
    repo: '=URL the git address of a new project',
    branch: '=NAME its branch',
    yes: 'delete without asking',
  },
  async run(call) {
    const verb = call.words[0]
    if (verb === undefined || verb === 'list') return list(call)
    if (!Object.hasOwn(verbs, verb)) throw new UsageError(`“${verb}” is none of create, show, open, stop, delete.`)
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
  const slug = text(call.flags, 'slug') ?? slugOf(name)
  const { project } = await call.connect().call('createProject', {
    body: { name, slug, repo_url: text(call.flags, 'repo'), repo_branch: text(call.flags, 'branch') },
  })
  call.terminal.out(call.json ? JSON.stringify({ project }) : `Made ${project.slug}.`)
  return exitCodes.done
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
  const answer = await call.connect().call('stopProject', { params: { slug } })
  call.terminal.out(call.json ? JSON.stringify(answer) : `Stopped ${slug}. A deployment brings it back: homeport deploy`)
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

/** A short name out of a free one; the instance has the last word on it. */
export function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/ß/g, 'ss')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 50)
    .replace(/^-+|-+$/g, '')
  if (slug.length < 3) throw new UsageError(`No short name can be made of “${name}”. Give one with --slug.`)
  return slug
}
