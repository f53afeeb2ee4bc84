import { planName } from '../contract/instance.ts'
import { type Call, type Command, exitCodes, text, UsageError, words } from './command.ts'
import { table } from './terminal.ts'

export const user: Command = {
  summary: 'Adds, lists, verifies and removes the people of this instance. For its owner only.',
  forms: ['user add EMAIL [--plan PLAN] [--unverified] [--card]', 'user invite EMAIL', 'user list', 'user verify|remove EMAIL'],
  options: { plan: `=PLAN ${planName.options.join(', ')}`, unverified: 'the email does not count as verified', card: 'the account has a card' },
  more: 'invite makes a link by which a person proves the address and chooses a password; add makes a token instead.',
  async run(call) {
    const verb = call.words[0] ?? 'list'
    if (verb === 'list') return list(call)
    if (verb !== 'add' && verb !== 'invite' && verb !== 'verify' && verb !== 'remove')
      throw new UsageError(`“${verb}” is none of add, invite, list, verify, remove.`)
    const [, email = ''] = words(call, verb, 'EMAIL')
    if (verb === 'add') return add(call, email)
    if (verb === 'invite') return invite(call, email)
    const client = call.connect()
    if (verb === 'verify') {
      const answer = await client.call('verifyUser', { params: { email } })
      call.terminal.out(call.json ? JSON.stringify(answer) : `${email} counts as verified.`)
    } else {
      await client.call('removeUser', { params: { email } })
      call.terminal.out(call.json ? JSON.stringify({ removed: email }) : `Removed ${email} with the account and its projects.`)
    }
    return exitCodes.done
  },
}

async function add(call: Call, email: string): Promise<number> {
  const plan = planName.optional().safeParse(text(call.flags, 'plan'))
  if (!plan.success) throw new UsageError(`--plan is one of ${planName.options.join(', ')}.`)
  const answer = await call
    .connect()
    .call('addUser', { body: { email, plan: plan.data, verified: call.flags.unverified !== true, card: call.flags.card === true } })
  if (call.json) call.terminal.out(JSON.stringify(answer))
  else {
    call.terminal.out(`Added ${answer.user.email} on ${answer.account.plan}. Their token, shown this once:`)
    call.terminal.out(answer.token)
  }
  return exitCodes.done
}

async function invite(call: Call, email: string): Promise<number> {
  const answer = await call.connect().call('createVerificationLink', { body: { email } })
  if (call.json) call.terminal.out(JSON.stringify(answer))
  else {
    call.terminal.out(
      `${answer.was_sent ? `The link is on its way to ${email}.` : `Give this link to ${email}.`} Good once, for 7 days; shown this once:`,
    )
    call.terminal.out(answer.url)
  }
  return exitCodes.done
}

async function list(call: Call): Promise<number> {
  words(call, '[list]')
  const { users } = await call.connect().call('listUsers', {})
  if (call.json) call.terminal.out(JSON.stringify({ users }))
  else {
    const rows = users.map((one) => [
      one.email,
      one.account.plan,
      one.email_verified ? 'yes' : 'no',
      one.account.has_payment_method ? 'yes' : 'no',
      one.is_instance_owner ? 'owner' : '',
    ])
    for (const line of table(call.terminal, ['EMAIL', 'PLAN', 'VERIFIED', 'CARD', ''], rows)) call.terminal.out(line.trimEnd())
  }
  return exitCodes.done
}
