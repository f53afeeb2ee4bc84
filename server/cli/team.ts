import { type CommandContext, type CliCommand, exitCodes, requirePositionals, unknownSubcommand } from './command.ts'
import { formatTable } from './terminal.ts'

const subcommands: Record<string, (context: CommandContext) => Promise<number>> = {
  list,
  invite,
  revoke,
  join,
  leave,
  dismiss,
  add: (context) => changeMembership(context, 'add'),
  remove: (context) => changeMembership(context, 'remove'),
}

export const team: CliCommand = {
  summary: 'Shows your team, invites members, and joins or leaves other teams.',
  usage: [
    'team list',
    'team invite EMAIL',
    'team revoke EMAIL',
    'team join LINK',
    'team leave OWNER_EMAIL',
    'team dismiss EMAIL',
    'team add|remove OWNER_EMAIL MEMBER_EMAIL',
  ],
  options: {},
  details:
    'An invitation link works once and expires after 7 days. dismiss removes a member from your own team. add and remove need no link and are for the owner of the instance only.',
  async run(context) {
    const subcommand = context.positionals[0] ?? 'list'
    const run = Object.hasOwn(subcommands, subcommand) ? subcommands[subcommand] : undefined
    if (!run) throw unknownSubcommand(subcommand, Object.keys(subcommands))
    return run(context)
  },
}

async function list(context: CommandContext): Promise<number> {
  requirePositionals(context, '[list]')
  const response = await context.connect().call('getTeam', {})
  if (context.is_json) {
    context.terminal.out(JSON.stringify(response))
    return exitCodes.success
  }
  const rows = [
    ...response.members.map((one) => [one.email, one.role, formatDate(one.created_at)]),
    ...response.invitations.map((one) => [one.email, 'invited', `until ${formatDate(one.expires_at)}`]),
  ]
  for (const line of formatTable(context.terminal, ['EMAIL', 'ROLE', 'SINCE'], rows)) context.terminal.out(line.trimEnd())
  if (response.teams.length > 0) context.terminal.out(`You are a member of the team of ${response.teams.map((one) => one.owner_email).join(', ')}.`)
  return exitCodes.success
}

const formatDate = (iso: string) => iso.slice(0, 10)

async function invite(context: CommandContext): Promise<number> {
  const [, email = ''] = requirePositionals(context, 'invite', 'EMAIL')
  const response = await context.connect().call('createInvitation', { body: { email } })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else {
    context.terminal.out(
      `${response.was_sent ? `Sent the invitation to ${email}.` : `Send this link to ${email}.`} It works once, expires after 7 days, and is shown only once:`,
    )
    context.terminal.out(response.url)
  }
  return exitCodes.success
}

async function revoke(context: CommandContext): Promise<number> {
  const [, email = ''] = requirePositionals(context, 'revoke', 'EMAIL')
  const client = context.connect()
  const { invitations } = await client.call('getTeam', {})
  const invitation = invitations.find((one) => one.email === email.toLowerCase())
  // The instance rejects an unknown invitation.
  await client.call('revokeInvitation', { params: { id: invitation?.id ?? email } })
  context.terminal.out(context.is_json ? JSON.stringify({ revoked: invitation?.id }) : `Revoked the invitation of ${email}.`)
  return exitCodes.success
}

async function join(context: CommandContext): Promise<number> {
  const [, link = ''] = requirePositionals(context, 'join', 'LINK')
  const code = URL.parse(link)?.searchParams.get('code') ?? link
  const response = await context.connect().call('acceptInvitation', { body: { code } })
  context.terminal.out(context.is_json ? JSON.stringify(response) : `You can now use the projects of ${response.team.owner_email}.`)
  return exitCodes.success
}

async function leave(context: CommandContext): Promise<number> {
  const [, owner = ''] = requirePositionals(context, 'leave', 'OWNER_EMAIL')
  const client = context.connect()
  const { teams } = await client.call('getTeam', {})
  const account_id = teams.find((one) => one.owner_email === owner.toLowerCase())?.account_id ?? owner
  const response = await client.call('leaveTeam', { body: { account_id } })
  context.terminal.out(context.is_json ? JSON.stringify(response) : `You no longer have access to the projects of ${owner}.`)
  return exitCodes.success
}

async function dismiss(context: CommandContext): Promise<number> {
  const [, email = ''] = requirePositionals(context, 'dismiss', 'EMAIL')
  const client = context.connect()
  const { members } = await client.call('getTeam', {})
  // The instance rejects an unknown member.
  const id = members.find((one) => one.email === email.toLowerCase())?.user_id ?? email
  await client.call('removeMember', { params: { id } })
  context.terminal.out(context.is_json ? JSON.stringify({ ok: true }) : `${email} can no longer use your projects.`)
  return exitCodes.success
}

async function changeMembership(context: CommandContext, subcommand: 'add' | 'remove'): Promise<number> {
  const [, owner = '', member = ''] = requirePositionals(context, subcommand, 'OWNER_EMAIL', 'MEMBER_EMAIL')
  const body = { owner_email: owner, member_email: member }
  const response = await context.connect().call(subcommand === 'add' ? 'addTeamMember' : 'removeTeamMember', { body })
  const text = subcommand === 'add' ? `${member} can now use the projects of ${owner}.` : `${member} can no longer use the projects of ${owner}.`
  context.terminal.out(context.is_json ? JSON.stringify(response) : text)
  return exitCodes.success
}
