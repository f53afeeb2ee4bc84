import { limits } from '../contract/limits.ts'
import type { ApiToken } from '../contract/tokens.ts'
import type { Client } from './client.ts'
import { type Call, type Command, exitCodes, text, UsageError, words } from './command.ts'
import { ago, table } from './terminal.ts'

export const tokens: Command = {
  summary: 'Lists, makes and revokes your API tokens.',
  forms: ['tokens [list]', 'tokens create NAME [--days N]', 'tokens revoke ID'],
  options: { days: '=N create: the token ends after so many days (default: never)' },
  more: 'A new token is shown this once. A program uses it as “Authorization: Bearer svc_…”, this command line as HOMEPORT_TOKEN.',
  async run(call) {
    const verb = call.words[0] ?? 'list'
    if (!Object.hasOwn(verbs, verb)) throw new UsageError(`“${verb}” is none of list, create, revoke.`)
    return verbs[verb as keyof typeof verbs](call)
  },
}

const verbs = { list, create, revoke }

async function list(call: Call): Promise<number> {
  words(call, '[list]')
  const api_tokens = await everyToken(call.connect())
  if (call.json) call.terminal.out(JSON.stringify({ api_tokens }))
  else if (api_tokens.length === 0) call.terminal.out('No tokens yet. Make one with: homeport tokens create NAME')
  else {
    const rows = api_tokens.map((one) => [
      one.id,
      one.name,
      `${one.prefix}…${one.last4}`,
      one.last_used_at === null ? 'never' : ago(one.last_used_at, call.clock.now()),
      endOf(one, call.clock.now()),
    ])
    for (const line of table(call.terminal, ['ID', 'NAME', 'TOKEN', 'USED', 'ENDS'], rows)) call.terminal.out(line)
  }
  return exitCodes.done
}

async function create(call: Call): Promise<number> {
  const [, name = ''] = words(call, 'create', 'NAME')
  const days = text(call.flags, 'days')
  const { min, max } = limits.token_days
  if (days !== undefined && !(/^\d{1,3}$/.test(days) && Number(days) >= min && Number(days) <= max))
    throw new UsageError(`--days is a whole number from ${min} to ${max}.`)
  const body = { name, ...(days === undefined ? {} : { expires_in_days: Number(days) }) }
  const answer = await call.connect().call('createToken', { body })
  if (call.json) call.terminal.out(JSON.stringify(answer))
  else {
    // The token alone on standard output, so that it can be piped on.
    call.terminal.err(`Made ${answer.api_token.id}. The token, shown this once:`)
    call.terminal.out(answer.token)
  }
  return exitCodes.done
}

async function revoke(call: Call): Promise<number> {
  const [, id = ''] = words(call, 'revoke', 'ID')
  await call.connect().call('revokeToken', { params: { id } })
  call.terminal.out(call.json ? JSON.stringify({ revoked: id }) : 'Revoked. Whoever uses it is refused from now on.')
  return exitCodes.done
}

async function everyToken(client: Client): Promise<ApiToken[]> {
  const all: ApiToken[] = []
  let cursor: string | undefined
  do {
    const page = await client.call('listTokens', { query: { limit: '100', cursor } })
    all.push(...page.api_tokens)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return all
}

function endOf({ expires_at }: ApiToken, now: number): string {
  if (expires_at === null) return 'never'
  return Date.parse(expires_at) <= now ? 'ended' : expires_at.slice(0, 10)
}
