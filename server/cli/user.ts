import { planName } from '../contract/instance.ts'
import { type CommandContext, type CliCommand, exitCodes, stringFlag, UsageError, requirePositionals, unknownSubcommand } from './command.ts'
import { formatTable } from './terminal.ts'

export const user: CliCommand = {
  summary: 'Adds, invites, lists, verifies and removes the people of this instance. Owner only.',
  usage: ['user add EMAIL [--plan PLAN] [--unverified] [--card]', 'user invite EMAIL', 'user list', 'user verify|remove EMAIL'],
  options: {
    plan: `=PLAN ${planName.options.join(', ')}`,
    unverified: 'do not mark the email as verified',
    card: 'count the account as having a card',
  },
  details: 'invite creates a link for verifying the address and choosing a password; add creates a token instead.',
  async run(context) {
    const subcommand = context.positionals[0] ?? 'list'
    if (subcommand === 'list') return list(context)
    if (subcommand !== 'add' && subcommand !== 'invite' && subcommand !== 'verify' && subcommand !== 'remove')
      throw unknownSubcommand(subcommand, ['add', 'invite', 'list', 'verify', 'remove'])
    const [, email = ''] = requirePositionals(context, subcommand, 'EMAIL')
    if (subcommand === 'add') return add(context, email)
    if (subcommand === 'invite') return invite(context, email)
    const client = context.connect()
    if (subcommand === 'verify') {
      const response = await client.call('verifyUser', { params: { email } })
      context.terminal.out(context.is_json ? JSON.stringify(response) : `${email} is verified.`)
    } else {
      await client.call('removeUser', { params: { email } })
      context.terminal.out(context.is_json ? JSON.stringify({ removed: email }) : `Removed ${email}, the account and its projects.`)
    }
    return exitCodes.success
  },
}

async function add(context: CommandContext, email: string): Promise<number> {
  const plan = planName.optional().safeParse(stringFlag(context.flags, 'plan'))
  if (!plan.success) throw new UsageError(`--plan must be one of ${planName.options.join(', ')}.`)
  const response = await context
    .connect()
    .call('addUser', { body: { email, plan: plan.data, verified: context.flags.unverified !== true, card: context.flags.card === true } })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else {
    context.terminal.out(`Added ${response.user.email} on ${response.account.plan}. The token is shown only once:`)
    context.terminal.out(response.token)
  }
  return exitCodes.success
}

async function invite(context: CommandContext, email: string): Promise<number> {
  const response = await context.connect().call('createVerificationLink', { body: { email } })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else {
    context.terminal.out(
      `${response.was_sent ? `Sent the link to ${email}.` : `Send this link to ${email}.`} It works once, expires after 7 days, and is shown only once:`,
    )
    context.terminal.out(response.url)
  }
  return exitCodes.success
}

async function list(context: CommandContext): Promise<number> {
  requirePositionals(context, '[list]')
  const { users } = await context.connect().call('listUsers', {})
  if (context.is_json) context.terminal.out(JSON.stringify({ users }))
  else {
    const rows = users.map((one) => [
      one.email,
      one.account.plan,
      one.email_verified ? 'yes' : 'no',
      one.account.has_payment_method ? 'yes' : 'no',
      one.is_instance_owner ? 'owner' : '',
    ])
    for (const line of formatTable(context.terminal, ['EMAIL', 'PLAN', 'VERIFIED', 'CARD', ''], rows)) context.terminal.out(line.trimEnd())
  }
  return exitCodes.success
}
