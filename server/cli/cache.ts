import { type CommandContext, type CliCommand, exitCodes, stringFlag, UsageError, unknownSubcommand } from './command.ts'
import { formatRelativeTime, formatBytes, formatTable } from './terminal.ts'

export const cache: CliCommand = {
  summary: 'Shows, inspects and purges the edge cache of a project.',
  usage: [
    'cache SLUG [status]',
    'cache SLUG on|off',
    'cache SLUG purge [PATH_OR_URL ...]',
    'cache SLUG purge --tags TAG ...',
    'cache SLUG inspect PATH_OR_URL [--send] [--header NAME:VALUE]',
    'cache SLUG token',
    'cache SLUG log',
  ],
  options: {
    tags: 'purge: treat the arguments as tags (Surrogate-Key, Cache-Tag)',
    send: 'inspect: also send a real request, which wakes the app',
    header: '=NAME:VALUE inspect: a request header, for responses that vary',
    limit: '=N log: number of purges to list (default 20, maximum 100)',
  },
  details: 'purge without arguments purges everything. token creates the webhook token, or replaces it.',
  async run(context) {
    const [slug, subcommand = 'status', ...rest] = context.positionals
    if (slug === undefined) throw new UsageError('SLUG is missing.')
    if (!Object.hasOwn(subcommands, subcommand)) throw unknownSubcommand(subcommand, Object.keys(subcommands))
    if (rest.length > 0 && subcommand !== 'purge' && subcommand !== 'inspect') throw new UsageError(`Unexpected argument “${rest[0]}”.`)
    return subcommands[subcommand as keyof typeof subcommands](context, slug, rest)
  },
}

const subcommands = {
  status,
  on: (context: CommandContext, slug: string) => setCaching(context, slug, true),
  off: (context: CommandContext, slug: string) => setCaching(context, slug, false),
  purge,
  inspect,
  token,
  log,
}

async function status(context: CommandContext, slug: string): Promise<number> {
  const client = context.connect()
  const [{ project }, metrics] = await Promise.all([
    client.call('getProject', { params: { slug } }),
    client.call('getMetrics', { params: { slug }, query: { range: '24h' } }),
  ])
  const { caching_enabled, has_purge_token } = project
  const { objects, bytes, hits, misses, bypass, hit_ratio } = metrics.cache
  if (context.is_json) context.terminal.out(JSON.stringify({ cache: { caching_enabled, has_purge_token, ...metrics.cache } }))
  else {
    const ratio = hit_ratio === null ? '' : `, ${(hit_ratio * 100).toFixed(1)} % hit rate`
    const facts = [
      ['caching', caching_enabled ? 'on' : 'off'],
      ['stored', `${objects} ${objects === 1 ? 'response' : 'responses'}, ${formatBytes(bytes)}`],
      ['last 24 hours', `${hits} hits, ${misses} misses, ${bypass} bypassed${ratio}`],
      ['webhook token', has_purge_token ? 'created' : `none; create one with: homeport cache ${slug} token`],
    ] as const
    for (const [name, value] of facts) context.terminal.out(`${name.padEnd(16)}${value}`)
  }
  return exitCodes.success
}

async function setCaching(context: CommandContext, slug: string, caching_enabled: boolean): Promise<number> {
  const { project } = await context.connect().call('updateProject', { params: { slug }, body: { caching_enabled } })
  context.terminal.out(context.is_json ? JSON.stringify({ project }) : `Caching is ${caching_enabled ? 'on' : 'off'} for ${slug}.`)
  return exitCodes.success
}

async function purge(context: CommandContext, slug: string, words: string[]): Promise<number> {
  const client = context.connect()
  const params = { slug }
  if (context.flags.tags === true && words.length === 0) throw new UsageError('TAG is missing: list the tags after purge --tags.')
  const response =
    words.length === 0
      ? await client.call('purgeAll', { params })
      : context.flags.tags === true
        ? await client.call('purgeTags', { params, body: { tags: words } })
        : await client.call('purgeUrls', { params, body: { urls: words } })
  context.terminal.out(
    context.is_json ? JSON.stringify(response) : `Purged ${response.purged} cached ${response.purged === 1 ? 'response' : 'responses'} of ${slug}.`,
  )
  return exitCodes.success
}

async function inspect(context: CommandContext, slug: string, [url, extra]: string[]): Promise<number> {
  if (url === undefined) throw new UsageError('PATH_OR_URL is missing.')
  if (extra !== undefined) throw new UsageError(`Unexpected argument “${extra}”.`)
  const inspection = await context
    .connect()
    .call('inspectCache', { params: { slug }, body: { url, send: context.flags.send === true, headers: readHeaderFlag(context) } })
  const { out } = context.terminal
  if (context.is_json) {
    out(JSON.stringify(inspection))
    return exitCodes.success
  }
  const { stored, answer } = inspection
  out(`${inspection.cache_status}  ${inspection.url}`)
  out(inspection.why)
  if (stored !== null) {
    const fresh = stored.fresh_for_s >= 0 ? `fresh for ${Math.round(stored.fresh_for_s)} s more` : `stale for ${Math.round(-stored.fresh_for_s)} s`
    out(
      `stored          ${formatRelativeTime(stored.stored_at, context.clock.now())}, ${stored.status}, ${formatBytes(stored.bytes)}, in ${stored.tier}, ${fresh}`,
    )
    if (stored.tags.length > 0) out(`tags            ${stored.tags.join(', ')}`)
    if (stored.vary.length > 0) out(`varies by       ${stored.vary.join(', ')}`)
  }
  if (answer !== null) out(`live response   ${answer.status}, ${answer.x_cache ?? 'no X-Cache'}, ${answer.ms} ms`)
  return exitCodes.success
}

function readHeaderFlag(context: CommandContext): Record<string, string> {
  const header = stringFlag(context.flags, 'header')
  if (header === undefined) return {}
  const colon = header.indexOf(':')
  if (colon < 1) throw new UsageError('--header needs NAME:VALUE, such as accept-language:de.')
  return { [header.slice(0, colon)]: header.slice(colon + 1).trim() }
}

async function token(context: CommandContext, slug: string): Promise<number> {
  const created = await context.connect().call('createPurgeToken', { params: { slug } })
  if (context.is_json) context.terminal.out(JSON.stringify(created))
  else {
    context.terminal.out(created.token)
    context.terminal.err(
      `This token is shown only once. Configure your CMS to POST to ${created.webhook_url} with the header “Authorization: Bearer TOKEN”. Earlier tokens no longer work.`,
    )
  }
  return exitCodes.success
}

async function log(context: CommandContext, slug: string): Promise<number> {
  const limit = stringFlag(context.flags, 'limit') ?? '20'
  const page = await context.connect().call('listCacheEvents', { params: { slug }, query: { limit } })
  if (context.is_json) context.terminal.out(JSON.stringify(page))
  else if (page.events.length === 0) context.terminal.out('No purges yet.')
  else {
    const rows = page.events.map((event) => [
      formatRelativeTime(event.created_at, context.clock.now()),
      event.source,
      event.kind,
      String(event.purged),
      [...event.tags, ...event.urls].join(' ') || '-',
    ])
    for (const line of formatTable(context.terminal, ['TIME', 'SOURCE', 'KIND', 'PURGED', 'TARGETS'], rows)) context.terminal.out(line)
  }
  return exitCodes.success
}
