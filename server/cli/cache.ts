import { type Call, type Command, exitCodes, text, UsageError } from './command.ts'
import { ago, sizeOf, table } from './terminal.ts'

export const cache: Command = {
  summary: 'Shows and empties what the edge has stored of a project.',
  forms: [
    'cache SLUG [status]',
    'cache SLUG on|off',
    'cache SLUG purge [PATH_OR_URL ...]',
    'cache SLUG purge --tags TAG ...',
    'cache SLUG inspect PATH_OR_URL [--send] [--header NAME:VALUE]',
    'cache SLUG token',
    'cache SLUG log',
  ],
  options: {
    tags: 'the words after purge are tags of answers (Surrogate-Key, Cache-Tag)',
    send: 'inspect: make a real request too; it wakes the app',
    header: '=NAME:VALUE inspect: a header of the request, for answers that vary',
    limit: '=N log: how many to list (default 20, at most 100)',
  },
  more: 'purge without more words empties all. token makes the token of the webhook, or puts a new one in place of the old.',
  async run(call) {
    const [slug, verb = 'status', ...rest] = call.words
    if (slug === undefined) throw new UsageError('SLUG is missing.')
    if (!Object.hasOwn(verbs, verb)) throw new UsageError(`“${verb}” is none of ${Object.keys(verbs).join(', ')}.`)
    if (rest.length > 0 && verb !== 'purge' && verb !== 'inspect') throw new UsageError(`“${rest[0]}” is one word too many.`)
    return verbs[verb as keyof typeof verbs](call, slug, rest)
  },
}

const verbs = {
  status,
  on: (call: Call, slug: string) => turn(call, slug, true),
  off: (call: Call, slug: string) => turn(call, slug, false),
  purge,
  inspect,
  token,
  log,
}

async function status(call: Call, slug: string): Promise<number> {
  const client = call.connect()
  const [{ project }, metrics] = await Promise.all([
    client.call('getProject', { params: { slug } }),
    client.call('getMetrics', { params: { slug }, query: { range: '24h' } }),
  ])
  const { caching_enabled, has_purge_token } = project
  const { objects, bytes, hits, misses, bypass, hit_ratio } = metrics.cache
  if (call.json) call.terminal.out(JSON.stringify({ cache: { caching_enabled, has_purge_token, ...metrics.cache } }))
  else {
    const ratio = hit_ratio === null ? '' : `, ${(hit_ratio * 100).toFixed(1)} % from the cache`
    const facts = [
      ['caching', caching_enabled ? 'on' : 'off'],
      ['stored', `${objects} ${objects === 1 ? 'answer' : 'answers'}, ${sizeOf(bytes)}`],
      ['last 24 hours', `${hits} hits, ${misses} misses, ${bypass} passed by${ratio}`],
      ['webhook token', has_purge_token ? 'made' : `none; make one with: homeport cache ${slug} token`],
    ] as const
    for (const [name, value] of facts) call.terminal.out(`${name.padEnd(16)}${value}`)
  }
  return exitCodes.done
}

async function turn(call: Call, slug: string, caching_enabled: boolean): Promise<number> {
  const { project } = await call.connect().call('updateProject', { params: { slug }, body: { caching_enabled } })
  call.terminal.out(call.json ? JSON.stringify({ project }) : `Caching of ${slug} is ${caching_enabled ? 'on' : 'off, and nothing is stored'}.`)
  return exitCodes.done
}

async function purge(call: Call, slug: string, words: string[]): Promise<number> {
  const client = call.connect()
  const params = { slug }
  if (call.flags.tags === true && words.length === 0) throw new UsageError('Name the tags after purge --tags.')
  const answer =
    words.length === 0
      ? await client.call('purgeAll', { params })
      : call.flags.tags === true
        ? await client.call('purgeTags', { params, body: { tags: words } })
        : await client.call('purgeUrls', { params, body: { urls: words } })
  call.terminal.out(call.json ? JSON.stringify(answer) : `Purged ${answer.purged} stored ${answer.purged === 1 ? 'answer' : 'answers'} of ${slug}.`)
  return exitCodes.done
}

async function inspect(call: Call, slug: string, [url, extra]: string[]): Promise<number> {
  if (url === undefined) throw new UsageError('PATH_OR_URL is missing.')
  if (extra !== undefined) throw new UsageError(`“${extra}” is one word too many.`)
  const found = await call
    .connect()
    .call('inspectCache', { params: { slug }, body: { url, send: call.flags.send === true, headers: headerIn(call) } })
  const { out } = call.terminal
  if (call.json) {
    out(JSON.stringify(found))
    return exitCodes.done
  }
  const { stored, answer } = found
  out(`${found.verdict}  ${found.url}`)
  out(found.why)
  if (stored !== null) {
    const fresh = stored.fresh_for_s >= 0 ? `fresh for ${Math.round(stored.fresh_for_s)} s more` : `stale for ${Math.round(-stored.fresh_for_s)} s`
    out(`stored          ${ago(stored.stored_at, call.clock.now())}, ${stored.status}, ${sizeOf(stored.bytes)}, in ${stored.tier}, ${fresh}`)
    if (stored.tags.length > 0) out(`tags            ${stored.tags.join(', ')}`)
    if (stored.vary.length > 0) out(`varies by       ${stored.vary.join(', ')}`)
  }
  if (answer !== null) out(`a real request  ${answer.status}, ${answer.x_cache ?? 'no X-Cache'}, ${answer.ms} ms`)
  return exitCodes.done
}

function headerIn(call: Call): Record<string, string> {
  const header = text(call.flags, 'header')
  if (header === undefined) return {}
  const colon = header.indexOf(':')
  if (colon < 1) throw new UsageError('--header takes a name and a value, such as accept-language:de.')
  return { [header.slice(0, colon)]: header.slice(colon + 1).trim() }
}

async function token(call: Call, slug: string): Promise<number> {
  const made = await call.connect().call('createPurgeToken', { params: { slug } })
  if (call.json) call.terminal.out(JSON.stringify(made))
  else {
    call.terminal.out(made.token)
    call.terminal.err(
      `Shown this once. Let your CMS POST to ${made.webhook_url} with “Authorization: Bearer” and this token. An earlier one no longer works.`,
    )
  }
  return exitCodes.done
}

async function log(call: Call, slug: string): Promise<number> {
  const limit = text(call.flags, 'limit') ?? '20'
  const page = await call.connect().call('listCacheEvents', { params: { slug }, query: { limit } })
  if (call.json) call.terminal.out(JSON.stringify(page))
  else if (page.events.length === 0) call.terminal.out('Nothing was purged yet.')
  else {
    const rows = page.events.map((event) => [
      ago(event.created_at, call.clock.now()),
      event.source,
      event.kind,
      String(event.purged),
      [...event.tags, ...event.urls].join(' ') || '-',
    ])
    for (const line of table(call.terminal, ['WHEN', 'BY', 'WHAT', 'PURGED', 'OF'], rows)) call.terminal.out(line)
  }
  return exitCodes.done
}
