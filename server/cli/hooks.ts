import { type CliCommand, type CommandContext, exitCodes, requirePositionals, stringFlag, unknownSubcommand } from './command.ts'
import { formatRelativeTime, formatTable } from './terminal.ts'

export const hooks: CliCommand = {
  summary: 'Lists, creates and deletes deploy hooks: URLs that deploy a project when they are called.',
  usage: ['hooks SLUG', 'hooks SLUG create NAME', 'hooks SLUG delete ID'],
  options: { branch: '=BRANCH the branch to deploy; otherwise the production branch' },
  details: 'The URL is printed once. Call it with POST, or send its token to /hooks/deploy as Authorization: Bearer.',
  async run(context) {
    const [slug = '', action] = context.positionals
    if (action === undefined) return list(context, requirePositionals(context, 'SLUG')[0] ?? '')
    if (action === 'create') return create(context, slug, requirePositionals(context, 'SLUG', 'create', 'NAME')[2] ?? '')
    if (action === 'delete') return remove(context, slug, requirePositionals(context, 'SLUG', 'delete', 'ID')[2] ?? '')
    throw unknownSubcommand(action, ['create', 'delete'])
  },
}

async function list(context: CommandContext, slug: string): Promise<number> {
  const { terminal, clock } = context
  const response = await context.connect().call('listDeployHooks', { params: { slug } })
  if (context.is_json) terminal.out(JSON.stringify(response))
  else if (response.deploy_hooks.length === 0) terminal.out(`No deploy hooks. Create one with homeport hooks ${slug} create NAME.`)
  else
    for (const line of formatTable(
      terminal,
      ['ID', 'NAME', 'BRANCH', 'TOKEN', 'LAST CALL'],
      response.deploy_hooks.map(({ id, name, branch, last4, last_used_at }) => [
        id,
        name,
        branch ?? '(production)',
        `hpd_…${last4}`,
        last_used_at === null ? 'never' : formatRelativeTime(last_used_at, clock.now()),
      ]),
    ))
      terminal.out(line)
  return exitCodes.success
}

async function create(context: CommandContext, slug: string, name: string): Promise<number> {
  const branch = stringFlag(context.flags, 'branch') ?? null
  const response = await context.connect().call('createDeployHook', { params: { slug }, body: { name, branch } })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else {
    context.terminal.out(`Created ${response.deploy_hook.name}. Its URL is shown only now:`)
    context.terminal.out(response.url)
  }
  return exitCodes.success
}

async function remove(context: CommandContext, slug: string, id: string): Promise<number> {
  await context.connect().call('deleteDeployHook', { params: { slug, id } })
  context.terminal.out(context.is_json ? JSON.stringify({ ok: true }) : 'Deleted. Its URL stops working.')
  return exitCodes.success
}
