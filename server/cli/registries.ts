import { type CliCommand, type CommandContext, exitCodes, requirePositionals, stringFlag, unknownSubcommand, UsageError } from './command.ts'
import { formatRelativeTime, formatTable } from './terminal.ts'

export const registries: CliCommand = {
  summary: 'Lists, adds and removes the credentials with which a project pulls images of private registries.',
  usage: ['registries SLUG', 'registries SLUG add HOST --username NAME', 'registries SLUG remove HOST'],
  options: { username: '=NAME the user name at the registry' },
  details:
    'Enter the password or access token at the prompt or on standard input. HOST is a registry such as ghcr.io; Docker Hub is docker.io. Projects of the instance owner also use the docker login of this machine.',
  async run(context) {
    const [slug = '', action, host = ''] = context.positionals
    if (action === undefined) return list(context, requirePositionals(context, 'SLUG')[0] ?? '')
    if (action !== 'add' && action !== 'remove') throw unknownSubcommand(action, ['add', 'remove'])
    if (host === '') throw new UsageError(`Add the registry: homeport registries ${slug} ${action} HOST`)
    requirePositionals(context, 'SLUG', action, 'HOST')
    return action === 'add' ? add(context, slug, host) : remove(context, slug, host)
  },
}

async function list(context: CommandContext, slug: string): Promise<number> {
  const { terminal, clock } = context
  const response = await context.connect().call('listRegistries', { params: { slug } })
  if (context.is_json) terminal.out(JSON.stringify(response))
  else {
    const own = response.registries.map((one) => [one.host, one.username, `added ${formatRelativeTime(one.created_at, clock.now())}`])
    const added = (response.docker_login ?? []).filter((host) => !response.registries.some((one) => one.host === host))
    const rows = [...own, ...added.map((host) => [host, '-', 'docker login of this machine'])]
    if (rows.length === 0) terminal.out(`No credentials. Add some with homeport registries ${slug} add HOST --username NAME.`)
    else for (const line of formatTable(terminal, ['REGISTRY', 'USER NAME', ''], rows)) terminal.out(line)
  }
  return exitCodes.success
}

async function add(context: CommandContext, slug: string, host: string): Promise<number> {
  const username = stringFlag(context.flags, 'username')
  if (username === undefined) throw new UsageError(`Add the user name: homeport registries ${slug} add ${host} --username NAME`)
  const password = await context.prompt(`Password or access token of ${username} at ${host}: `, { is_secret: true, has_lines: true })
  if (!password) throw new UsageError('There is no password. Type one, or pipe it in.')
  const response = await context.connect().call('addRegistry', { params: { slug }, body: { host, username, password } })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else context.terminal.out(`From its next deployment, ${slug} pulls images of ${response.registry.host} as ${response.registry.username}.`)
  return exitCodes.success
}

async function remove(context: CommandContext, slug: string, host: string): Promise<number> {
  await context.connect().call('removeRegistry', { params: { slug, host } })
  if (context.is_json) context.terminal.out(JSON.stringify({ ok: true }))
  else context.terminal.out(`Removed the credentials for ${host} from ${slug}.`)
  return exitCodes.success
}
