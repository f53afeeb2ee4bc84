import { limits } from '../contract/limits.ts'
import { type TokenScope, tokenScopes } from '../contract/token-scopes.ts'
import { ApiError } from '../client/api-error.ts'
import type { CallInput } from '../client/operation-types.ts'
import type { ApiToken, ScopedToken } from '../contract/tokens.ts'
import type { ApiClient } from './client.ts'
import { type CommandContext, type CliCommand, exitCodes, stringFlag, UsageError, requirePositionals, unknownSubcommand } from './command.ts'
import { formatRelativeTime, formatTable } from './terminal.ts'

export const tokens: CliCommand = {
  summary: 'Lists, creates and revokes your API tokens.',
  usage: ['tokens [list]', 'tokens create NAME [--scope SCOPE] [--project SLUG] [--days N]', 'tokens revoke ID'],
  options: {
    scope: '=SCOPE create: read, deploy or admin (default: everything that you may do)',
    project: '=SLUG create: the only project that the token sees (default: all of yours)',
    days: '=N create: days until the token expires (default: never)',
  },
  details:
    'read: states, logs and figures. deploy: also deployments, variables, commands and snapshots. admin: everything. A new token is shown only once. Programs send it as “Authorization: Bearer svc_…”; this command line reads it from HOMEPORT_TOKEN.',
  async run(context) {
    const subcommand = context.positionals[0] ?? 'list'
    if (!Object.hasOwn(subcommands, subcommand)) throw unknownSubcommand(subcommand, ['list', 'create', 'revoke'])
    return subcommands[subcommand as keyof typeof subcommands](context)
  },
}

const subcommands = { list, create, revoke }

async function list(context: CommandContext): Promise<number> {
  requirePositionals(context, '[list]')
  const api_tokens = await listAllTokens(context.connect())
  if (context.is_json) context.terminal.out(JSON.stringify({ api_tokens }))
  else if (api_tokens.length === 0) context.terminal.out('No tokens yet. Create one with: homeport tokens create NAME')
  else {
    const rows = api_tokens.map((one) => [
      one.id,
      one.name,
      `${one.prefix}…${one.last4}`,
      one.scope ?? 'all',
      one.project?.slug ?? 'all',
      one.last_used_at === null ? 'never' : formatRelativeTime(one.last_used_at, context.clock.now()),
      formatExpiry(one, context.clock.now()),
    ])
    for (const line of formatTable(context.terminal, ['ID', 'NAME', 'TOKEN', 'SCOPE', 'PROJECT', 'LAST USED', 'EXPIRES'], rows))
      context.terminal.out(line)
  }
  return exitCodes.success
}

async function create(context: CommandContext): Promise<number> {
  const [, name = ''] = requirePositionals(context, 'create', 'NAME')
  const days = stringFlag(context.flags, 'days')
  const { min, max } = limits.token_days
  if (days !== undefined && !(/^\d{1,3}$/.test(days) && Number(days) >= min && Number(days) <= max))
    throw new UsageError(`--days must be a whole number from ${min} to ${max}.`)
  const scope = parseScope(stringFlag(context.flags, 'scope'))
  const project = stringFlag(context.flags, 'project')
  const body = { name, ...(days === undefined ? {} : { expires_in_days: Number(days) }) }
  const client = context.connect()
  // A hosted account has no scopes.
  const response = await (scope === undefined && project === undefined
    ? client.call('createToken', { body })
    : client.call('createScopedToken', { body: { ...body, scope, project } }))
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else {
    // Only the token goes to standard output, so that it can be piped.
    context.terminal.err(`Created ${response.api_token.id}. The token is shown only once:`)
    context.terminal.out(response.token)
  }
  return exitCodes.success
}

async function revoke(context: CommandContext): Promise<number> {
  const [, id = ''] = requirePositionals(context, 'revoke', 'ID')
  await context.connect().call('revokeToken', { params: { id } })
  context.terminal.out(context.is_json ? JSON.stringify({ revoked: id }) : 'Revoked. Requests with this token are now refused.')
  return exitCodes.success
}

type ListedToken = ApiToken & Partial<ScopedToken>

async function listAllTokens(client: ApiClient): Promise<ListedToken[]> {
  const all: ListedToken[] = []
  let cursor: string | undefined
  do {
    const page = await readPage(client, { limit: '100', cursor })
    all.push(...page.api_tokens)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return all
}

/** A hosted account does not say what a token is limited to. */
async function readPage(
  client: ApiClient,
  query: CallInput<'listTokens'>['query'] & object,
): Promise<{ api_tokens: ListedToken[]; next_cursor: string | null }> {
  try {
    return await client.call('listScopedTokens', { query })
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'route_not_found')) throw error
    return client.call('listTokens', { query })
  }
}

function parseScope(text: string | undefined): TokenScope | undefined {
  const scope = tokenScopes.find((one) => one === text)
  if (text !== undefined && !scope) throw new UsageError(`--scope must be one of ${tokenScopes.join(', ')}.`)
  return scope
}

function formatExpiry({ expires_at }: ApiToken, now: number): string {
  if (expires_at === null) return 'never'
  return Date.parse(expires_at) <= now ? 'expired' : expires_at.slice(0, 10)
}
