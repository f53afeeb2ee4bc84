import { type Command, exitCodes, UsageError, words } from './command.ts'

export const team: Command = {
  summary: 'Lets a person see and use the projects of another account. For the owner of the instance only.',
  forms: ['team add|remove OWNER_EMAIL MEMBER_EMAIL'],
  options: {},
  async run(call) {
    const verb = call.words[0]
    if (verb !== 'add' && verb !== 'remove') throw new UsageError('Say add or remove.')
    const [, owner = '', member = ''] = words(call, verb, 'OWNER_EMAIL', 'MEMBER_EMAIL')
    const body = { owner_email: owner, member_email: member }
    const answer = await call.connect().call(verb === 'add' ? 'addTeamMember' : 'removeTeamMember', { body })
    const sentence = verb === 'add' ? `${member} now sees the projects of ${owner}.` : `${member} no longer sees the projects of ${owner}.`
    call.terminal.out(call.json ? JSON.stringify(answer) : sentence)
    return exitCodes.done
  },
}
