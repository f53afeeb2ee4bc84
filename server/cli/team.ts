import { type Call, type Command, exitCodes, UsageError, words } from './command.ts'
import { table } from './terminal.ts'

const verbs: Record<string, (call: Call) => Promise<number>> = {
  list,
  invite,
  revoke,
  join,
  leave,
  add: (call) => change(call, 'add'),
  remove: (call) => change(call, 'remove'),
}

export const team: Command = {
  summary: 'Shows and invites the team of your account, and joins those of others.',
  forms: [
    'team list',
    'team invite EMAIL',
    'team revoke EMAIL',
    'team join LINK',
    'team leave OWNER_EMAIL',
    'team add|remove OWNER_EMAIL MEMBER_EMAIL',
  ],
  options: {},
  more: 'An invitation is a link that is good once and for 7 days. add and remove are for the owner of the instance, without a link.',
  async run(call) {
    const verb = call.words[0] ?? 'list'
    const run = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
    if (!run) throw new UsageError(`“${verb}” is none of ${Object.keys(verbs).join(', ')}.`)
    return run(call)
  },
}

async function list(call: Call): Promise<number> {
  words(call, '[list]')
  const answer = await call.connect().call('getTeam', {})
  if (call.json) {
    call.terminal.out(JSON.stringify(answer))
    return exitCodes.done
  }
  const rows = [
    ...answer.members.map((one) => [one.email, one.role, day(one.created_at)]),
    ...answer.invitations.map((one) => [one.email, 'invited', `until ${day(one.expires_at)}`]),
  ]
  for (const line of table(call.terminal, ['EMAIL', 'ROLE', 'SINCE'], rows)) call.terminal.out(line.trimEnd())
  if (answer.teams.length > 0) call.terminal.out(`You are a member of the team of ${answer.teams.map((one) => one.owner_email).join(', ')}.`)
  return exitCodes.done
}

const day = (iso: string) => iso.slice(0, 10)

async function invite(call: Call): Promise<number> {
  const [, email = ''] = words(call, 'invite', 'EMAIL')
  const answer = await call.connect().call('createInvitation', { body: { email } })
  if (call.json) call.terminal.out(JSON.stringify(answer))
  else {
    call.terminal.out(
      `${answer.was_sent ? `The invitation is on its way to ${email}.` : `Give this link to ${email}.`} Good once, for 7 days; shown this once:`,
    )
    call.terminal.out(answer.url)
  }
  return exitCodes.done
}

async function revoke(call: Call): Promise<number> {
  const [, email = ''] = words(call, 'revoke', 'EMAIL')
  const client = call.connect()
  const { invitations } = await client.call('getTeam', {})
  const found = invitations.find((one) => one.email === email.toLowerCase())
  // Without one the instance says so, in its own words.
  await client.call('revokeInvitation', { params: { id: found?.id ?? email } })
  call.terminal.out(call.json ? JSON.stringify({ revoked: found?.id }) : `The link of ${email} no longer works.`)
  return exitCodes.done
}

async function join(call: Call): Promise<number> {
  const [, link = ''] = words(call, 'join', 'LINK')
  const code = URL.parse(link)?.searchParams.get('code') ?? link
  const answer = await call.connect().call('acceptInvitation', { body: { code } })
  call.terminal.out(call.json ? JSON.stringify(answer) : `You may now use the projects of ${answer.team.owner_email}.`)
  return exitCodes.done
}

async function leave(call: Call): Promise<number> {
  const [, owner = ''] = words(call, 'leave', 'OWNER_EMAIL')
  const client = call.connect()
  const { teams } = await client.call('getTeam', {})
  const account_id = teams.find((one) => one.owner_email === owner.toLowerCase())?.account_id ?? owner
  const answer = await client.call('leaveTeam', { body: { account_id } })
  call.terminal.out(call.json ? JSON.stringify(answer) : `You no longer see the projects of ${owner}.`)
  return exitCodes.done
}

async function change(call: Call, verb: 'add' | 'remove'): Promise<number> {
  const [, owner = '', member = ''] = words(call, verb, 'OWNER_EMAIL', 'MEMBER_EMAIL')
  const body = { owner_email: owner, member_email: member }
  const answer = await call.connect().call(verb === 'add' ? 'addTeamMember' : 'removeTeamMember', { body })
  const sentence = verb === 'add' ? `${member} now sees the projects of ${owner}.` : `${member} no longer sees the projects of ${owner}.`
  call.terminal.out(call.json ? JSON.stringify(answer) : sentence)
  return exitCodes.done
}
