import { basename, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setTimeout as wait } from 'node:timers/promises'
import type { DevSession } from '../contract/dev.ts'
import { findFreePort } from '../lib/free-port.ts'
import { slugify } from '../lib/slug.ts'
import { ApiError } from '../client/api-error.ts'
import type { CallOutput } from '../client/operation-types.ts'
import type { ApiClient } from './client.ts'
import { type CliCommand, type CommandContext, exitCodes, requirePositionals, stringFlag, UsageError } from './command.ts'
import { fetchProject, isLocalInstance } from './fetch-project.ts'
import { readWorktree, type Worktree } from './git-worktree.ts'
import { colorize } from './terminal.ts'
import { waitForListener } from './wait-for-listener.ts'

export const dev: CliCommand = {
  summary: 'Starts the development server of this folder behind the address of its project.',
  usage: ['dev [SLUG] [--port PORT] [-- COMMAND ...]', 'dev [SLUG] --stop'],
  options: {
    port: '=PORT port of the development server (default: a free one)',
    stop: 'switch the addresses of the project back to the production build',
  },
  details: [
    'The server gets the variables of the project, with databases and services at addresses that this machine can reach. Ctrl-C ends it and switches back.',
    'Without a command: dev in homeport.yaml, else the framework’s own. A linked git worktree has its own address, BRANCH--SLUG.localhost.',
  ].join('\n'),
  takes_command: true,
  async run(context) {
    const [slug] = requirePositionals(context, '[SLUG]')
    const folder = resolve(context.cwd)
    const client = context.connect()
    if (!isLocalInstance(client.url))
      throw new Error(
        `${client.url} is on another machine and cannot reach a development server on yours. Use homeport dev with an instance on your machine.`,
      )
    const worktree = readWorktree(folder)
    if (context.flags.stop === true) return stopServers(context, client, slug ?? (await findSlug(client, worktree)))
    return runServer(context, client, folder, worktree, slug)
  },
}

async function stopServers(context: CommandContext, client: ApiClient, slug: string): Promise<number> {
  const { sessions } = await client.call('listDevSessions', { params: { slug } })
  for (const { id } of sessions) await client.call('endDevSession', { params: { slug, session: id } })
  if (context.is_json) context.terminal.out(JSON.stringify({ stopped: sessions }))
  else if (sessions.length === 0) context.terminal.out(`${slug} has no development server.`)
  for (const { host } of context.is_json ? [] : sessions) context.terminal.out(`Switched ${host} back.`)
  return exitCodes.success
}

/** Services of a branch with its own data may have to start first. */
const openTimeout_ms = 300_000

type OpenedSession = CallOutput<'createDevSession'>
type EndReason = 'stopped' | 'closed' | 'project_stopped'

async function runServer(context: CommandContext, client: ApiClient, folder: string, worktree: Worktree, given: string | undefined): Promise<number> {
  // Loaded here, because only this command and a few others need it.
  const { detectDevServer } = await import('../builder/index.ts')
  const plan = await detectDevServer(folder, context.program)
  if (!plan)
    throw new UsageError(`No development server was found in ${folder}. Name its command: homeport dev -- COMMAND, or dev: in homeport.yaml.`)
  const slug = given ?? (await findSlug(client, worktree))
  if (!(await fetchProject(client, slug))) await client.call('createProject', { body: { slug, name: basename(worktree.main_folder) || slug } })
  const port = readPort(context) ?? plan.port ?? (await findFreePort())
  const fill = (text: string) => text.replaceAll('{port}', String(port))
  const [file = '', ...args] = plan.command.map(fill)
  const open = (): Promise<OpenedSession> =>
    client.call(
      'createDevSession',
      {
        params: { slug },
        body: {
          folder,
          branch: worktree.branch,
          is_linked_worktree: worktree.is_linked,
          command: [file, ...args].join(' ').slice(0, 500),
          framework: plan.framework,
          port,
          host_header: plan.host_header,
        },
      },
      openTimeout_ms,
    )
  const { session, variables, left_out, notes } = await open()
  const note = (line: string) => context.terminal.err(line)
  note(`${plan.explanation}. Starting: ${[file, ...args].join(' ')}`)
  if (left_out.length > 0)
    note(`Not set, because they are write-only: ${left_out.join(', ')}. Set them in the terminal, or in a file that the framework reads.`)
  for (const line of notes) note(line)

  const program = context.startProgram(file, args, {
    cwd: folder,
    variables: { ...variables, PORT: String(port), HOST: '127.0.0.1', ...plan.environment },
    keeps_output: context.is_json,
  })
  const over = new AbortController()
  context.signal.addEventListener('abort', () => over.abort(), { once: true })
  if (context.signal.aborted) over.abort()
  const held = holdAddress(context, client, slug, { session, port, open, signal: over.signal })
  const first = await Promise.race([program.exited.then((code) => ({ exit: code })), held.then((reason) => ({ reason }))])
  over.abort()
  await program.stop()
  await held.catch(() => {})
  if ('reason' in first) return reportEnd(context, first.reason)
  if (first.exit !== undefined) return context.signal.aborted ? exitCodes.success : first.exit
  throw new Error(`${file} is not installed, or cannot be started. Install it, or name another command: homeport dev -- COMMAND`)
}

export function reportEnd(context: CommandContext, reason: EndReason | undefined): number {
  if (reason === 'stopped') context.terminal.err('The address was switched back to the production build.')
  if (reason === 'project_stopped') context.terminal.err('The project was stopped or deleted.')
  return exitCodes.success
}

interface HeldSession {
  session: DevSession
  port: number
  /** Opens the session again after a restart of the instance. */
  open(): Promise<OpenedSession>
  signal: AbortSignal
}

const reopenEvery_ms = 1_000

/** Keeps the address until it is taken away or the signal aborts. The development server continues while the instance restarts. */
export async function holdAddress(context: CommandContext, client: ApiClient, slug: string, held: HeldSession): Promise<EndReason | undefined> {
  const { signal, port } = held
  let { session } = held
  let isAnnounced = false
  for (;;) {
    const attempt = new AbortController()
    const both = AbortSignal.any([signal, attempt.signal])
    const { id } = session
    void waitForListener(port, both)
      .then(async (address) => {
        if (address === undefined) return
        const running = await client.call('updateDevSession', { params: { slug, session: id }, body: { address, port } })
        if (!isAnnounced) announce(context, running.session)
        isAnnounced = true
      })
      .catch(() => {})
    try {
      for await (const { event, data } of client.stream('followDevSession', { params: { slug, session: id } }, both))
        if (event === 'end') return (JSON.parse(data) as { reason: EndReason }).reason
    } catch (error) {
      if (!(error instanceof ApiError) || (error.code !== 'unreachable' && error.code !== 'dev_session_not_found')) throw error
    } finally {
      attempt.abort()
    }
    if (signal.aborted) {
      await client.call('endDevSession', { params: { slug, session: id } }).catch(() => {})
      return undefined
    }
    const next = await reopen(held)
    if (!next) return undefined
    session = next
  }
}

async function reopen({ open, signal }: HeldSession): Promise<DevSession | undefined> {
  while (!signal.aborted) {
    try {
      return (await open()).session
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'unreachable') throw error
    }
    await wait(reopenEvery_ms, undefined, { signal }).catch(() => {})
  }
  return undefined
}

function announce(context: CommandContext, session: DevSession): void {
  if (context.is_json) return context.terminal.out(JSON.stringify({ session }))
  const { terminal } = context
  const addresses = [session.url, ...(session.https_url === null ? [] : [session.https_url])].map((url) => colorize(terminal, 'bold', url))
  terminal.err(`The server on port ${session.port} answers at ${addresses.join(' and ')}. Ctrl-C switches back to the production build.`)
}

function readPort({ flags }: CommandContext): number | undefined {
  const text = stringFlag(flags, 'port')
  if (text === undefined) return undefined
  const port = Number(text)
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new UsageError(`--port is a number from 1 to 65535, not ${text}.`)
  return port
}

/** The project whose repository is this folder, else the one with its name. */
async function findSlug(client: ApiClient, { main_folder }: Worktree): Promise<string> {
  const url = pathToFileURL(main_folder).href
  for (let cursor: string | undefined; ;) {
    const page = await client.call('listProjects', { query: { limit: '100', ...(cursor !== undefined && { cursor }) } })
    const found = page.projects.find(({ repo_url }) => repo_url === url)
    if (found) return found.slug
    if (page.next_cursor === null) return slugify(basename(main_folder))
    cursor = page.next_cursor
  }
}
