import type { Remote } from '../contract/remotes.ts'
import { type CommandContext, type CliCommand, exitCodes, UsageError, requirePositionals, unknownSubcommand } from './command.ts'
import { formatTable } from './terminal.ts'

export const instances: CliCommand = {
  summary: 'Lists, adds, renames and removes other instances in the dashboard. Owner only.',
  usage: ['instances [list]', 'instances add URL [NAME]', 'instances token WHICH', 'instances rename WHICH NAME', 'instances remove WHICH'],
  options: {},
  details:
    'Enter the API token of the other instance at the prompt, on standard input or in HOMEPORT_REMOTE_TOKEN. It is not an argument, because\nother users of this machine can read those. WHICH is an ID, a name or a URL from the list.',
  async run(context) {
    const subcommand = context.positionals[0] ?? 'list'
    if (!Object.hasOwn(subcommands, subcommand)) throw unknownSubcommand(subcommand, ['list', 'add', 'token', 'rename', 'remove'])
    return subcommands[subcommand as keyof typeof subcommands](context)
  },
}

const subcommands = { list, add, token: setToken, rename, remove }

async function list(context: CommandContext): Promise<number> {
  requirePositionals(context, '[list]')
  const { remotes } = await context.connect().call('listRemotes', {})
  if (context.is_json) context.terminal.out(JSON.stringify({ remotes }))
  else if (remotes.length === 0) context.terminal.out('No other instances yet. Add one with: homeport instances add URL')
  else {
    const rows = remotes.map((one) => [one.id, one.name, one.origin, one.is_signed_in ? 'saved' : 'none'])
    for (const line of formatTable(context.terminal, ['ID', 'NAME', 'URL', 'TOKEN'], rows)) context.terminal.out(line)
  }
  return exitCodes.success
}

async function add(context: CommandContext): Promise<number> {
  const [, url = '', name] = requirePositionals(context, 'add', 'URL', '[NAME]')
  const client = context.connect()
  const token = await promptToken(context, url)
  const response = await client.call('addRemote', { body: { url, token, ...(name === undefined ? {} : { name }) } })
  printResult(context, response, `Added ${response.remote.name} (${response.remote.origin}).`)
  return exitCodes.success
}

async function setToken(context: CommandContext): Promise<number> {
  const [, selector = ''] = requirePositionals(context, 'token', 'WHICH')
  const { id, origin } = await selectRemote(context, selector)
  const response = await context.connect().call('updateRemote', { params: { id }, body: { token: await promptToken(context, origin) } })
  printResult(context, response, `Updated the token of ${response.remote.name}.`)
  return exitCodes.success
}

async function rename(context: CommandContext): Promise<number> {
  const [, selector = '', name = ''] = requirePositionals(context, 'rename', 'WHICH', 'NAME')
  const { id } = await selectRemote(context, selector)
  const response = await context.connect().call('updateRemote', { params: { id }, body: { name } })
  context.terminal.out(context.is_json ? JSON.stringify(response) : `Renamed to ${response.remote.name}.`)
  return exitCodes.success
}

async function remove(context: CommandContext): Promise<number> {
  const [, selector = ''] = requirePositionals(context, 'remove', 'WHICH')
  const { id, name } = await selectRemote(context, selector)
  await context.connect().call('deleteRemote', { params: { id } })
  context.terminal.out(
    context.is_json
      ? JSON.stringify({ removed: id })
      : `Removed ${name} and its token from this instance. Revoke the token there if nothing else uses it.`,
  )
  return exitCodes.success
}

async function promptToken(context: CommandContext, origin: string): Promise<string> {
  const token = context.remote_token ?? (await context.prompt(`API token of ${origin}: `, { is_secret: true }))?.trim()
  if (!token) throw new UsageError('No token was given. Pipe it in, or set HOMEPORT_REMOTE_TOKEN.')
  return token
}

/** An instance of the list, by its ID, name, URL or host. */
export async function selectRemote(context: CommandContext, selector: string): Promise<Remote> {
  const { remotes } = await context.connect().call('listRemotes', {})
  const matches = remotes.filter((one) => [one.id, one.name, one.origin, new URL(one.origin).host].includes(selector))
  const [one, other] = matches
  if (!one) throw new UsageError(`There is no instance “${selector}”. List them with: homeport instances`)
  if (other) throw new UsageError(`“${selector}” matches several instances. Use an ID from: homeport instances`)
  return one
}

function printResult(context: CommandContext, response: { remote: Remote }, line: string): void {
  context.terminal.out(context.is_json ? JSON.stringify(response) : line)
  if (response.remote.keeps_token === 'session' && !context.is_json)
    context.terminal.err('There is no keychain, so the token is kept in memory, only for this command line. The dashboard asks for its own.')
}
