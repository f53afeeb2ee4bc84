import type { Remote } from '../contract/remotes.ts'
import { type Call, type Command, exitCodes, UsageError, words } from './command.ts'
import { table } from './terminal.ts'

export const instances: Command = {
  summary: 'Lists, adds, renames and forgets other instances that the dashboard shows. For the owner only.',
  forms: ['instances [list]', 'instances add URL [NAME]', 'instances token WHICH', 'instances rename WHICH NAME', 'instances remove WHICH'],
  options: {},
  more: 'The API token of the other instance is asked for, or read from standard input or HOMEPORT_REMOTE_TOKEN; it is no argument, which\nothers on this machine could read. WHICH is an id, a name or an address of the list.',
  async run(call) {
    const verb = call.words[0] ?? 'list'
    if (!Object.hasOwn(verbs, verb)) throw new UsageError(`“${verb}” is none of list, add, token, rename, remove.`)
    return verbs[verb as keyof typeof verbs](call)
  },
}

const verbs = { list, add, token: giveToken, rename, remove }

async function list(call: Call): Promise<number> {
  words(call, '[list]')
  const { remotes } = await call.connect().call('listRemotes', {})
  if (call.json) call.terminal.out(JSON.stringify({ remotes }))
  else if (remotes.length === 0) call.terminal.out('No other instances yet. Add one with: homeport instances add URL')
  else {
    const rows = remotes.map((one) => [one.id, one.name, one.origin, one.is_signed_in ? 'held' : 'none'])
    for (const line of table(call.terminal, ['ID', 'NAME', 'ADDRESS', 'TOKEN'], rows)) call.terminal.out(line)
  }
  return exitCodes.done
}

async function add(call: Call): Promise<number> {
  const [, url = '', name] = words(call, 'add', 'URL', '[NAME]')
  const client = call.connect()
  const token = await askToken(call, url)
  const answer = await client.call('addRemote', { body: { url, token, ...(name === undefined ? {} : { name }) } })
  tell(call, answer, `Added ${answer.remote.name} (${answer.remote.origin}).`)
  return exitCodes.done
}

async function giveToken(call: Call): Promise<number> {
  const [, which = ''] = words(call, 'token', 'WHICH')
  const { id, origin } = await find(call, which)
  const answer = await call.connect().call('updateRemote', { params: { id }, body: { token: await askToken(call, origin) } })
  tell(call, answer, `${answer.remote.name} takes the token.`)
  return exitCodes.done
}

async function rename(call: Call): Promise<number> {
  const [, which = '', name = ''] = words(call, 'rename', 'WHICH', 'NAME')
  const { id } = await find(call, which)
  const answer = await call.connect().call('updateRemote', { params: { id }, body: { name } })
  call.terminal.out(call.json ? JSON.stringify(answer) : `It is called ${answer.remote.name} now.`)
  return exitCodes.done
}

async function remove(call: Call): Promise<number> {
  const [, which = ''] = words(call, 'remove', 'WHICH')
  const { id, name } = await find(call, which)
  await call.connect().call('deleteRemote', { params: { id } })
  call.terminal.out(
    call.json ? JSON.stringify({ removed: id }) : `Removed ${name}. Its token is forgotten here; revoke it there if nobody else uses it.`,
  )
  return exitCodes.done
}

async function askToken(call: Call, where: string): Promise<string> {
  const token = call.remote_token ?? (await call.ask(`API token of ${where}: `, { is_secret: true }))?.trim()
  if (!token) throw new UsageError('There is no token. Pipe it in, or give it as HOMEPORT_REMOTE_TOKEN.')
  return token
}

async function find(call: Call, which: string): Promise<Remote> {
  const { remotes } = await call.connect().call('listRemotes', {})
  const found = remotes.filter((one) => [one.id, one.name, one.origin, new URL(one.origin).host].includes(which))
  const [one, other] = found
  if (!one) throw new UsageError(`There is no instance “${which}” in the list: homeport instances`)
  if (other) throw new UsageError(`“${which}” is more than one: name it by its id (homeport instances).`)
  return one
}

function tell(call: Call, answer: { remote: Remote }, line: string): void {
  call.terminal.out(call.json ? JSON.stringify(answer) : line)
  if (answer.remote.keeps_token === 'session' && !call.json)
    call.terminal.err('Without a keychain the token is held in memory for this command line alone; the dashboard asks for one of its own.')
}
