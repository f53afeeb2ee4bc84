import type { Domain } from '../contract/domains.ts'
import { domainStatusLabels, getDomainStatus } from '../contract/labels.ts'
import type { ApiClient } from './client.ts'
import { type CommandContext, type CliCommand, exitCodes, requirePositionals, unknownSubcommand } from './command.ts'
import { colorize, formatTable } from './terminal.ts'

export const domains: CliCommand = {
  summary: 'Lists, adds, verifies, buys and removes custom domains.',
  usage: [
    'domains [list] [SLUG]',
    'domains add SLUG HOST',
    'domains verify HOST',
    'domains remove HOST',
    'domains search NAME',
    'domains buy SLUG HOST',
    'domains transfer HOST',
  ],
  options: {},
  details: [
    'Only verified domains get traffic: set an A record to the IP address that add and list print, then run verify.',
    'verify looks the domain up in DNS. It exits with 1 if the domain does not point to this instance yet.',
  ].join('\n'),
  async run(context) {
    const subcommand = context.positionals[0] ?? 'list'
    if (!Object.hasOwn(subcommands, subcommand)) throw unknownSubcommand(subcommand, Object.keys(subcommands))
    return subcommands[subcommand as keyof typeof subcommands](context)
  },
}

const subcommands = { list, add, verify, remove, search, buy, transfer }

async function list(context: CommandContext): Promise<number> {
  const [, slug] = requirePositionals(context, '[list]', '[SLUG]')
  const client = context.connect()
  const response = slug === undefined ? await client.call('listDomains', {}) : await client.call('listProjectDomains', { params: { slug } })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else if (response.domains.length === 0) context.terminal.out('No domains yet. Add one with: homeport domains add SLUG HOST')
  else {
    const now = context.clock.now()
    const rows = response.domains.map((one) => [
      one.hostname,
      one.project_slug,
      domainStatusLabels[getDomainStatus(one, now)],
      one.last_check_error ?? '',
    ])
    for (const line of formatTable(context.terminal, ['HOST', 'PROJECT', 'STATUS', ''], rows)) context.terminal.out(line.trimEnd())
    context.terminal.err(`A records must point to ${response.platform_ip}.`)
  }
  return exitCodes.success
}

async function add(context: CommandContext): Promise<number> {
  const [, slug = '', hostname = ''] = requirePositionals(context, 'add', 'SLUG', 'HOST')
  const client = context.connect()
  const { domain } = await client.call('addDomain', { params: { slug }, body: { hostname } })
  const { platform_ip } = await client.call('getDomain', { params: { id: domain.id } })
  if (context.is_json) context.terminal.out(JSON.stringify({ platform_ip, domain }))
  else {
    context.terminal.out(`Added ${hostname}. At your DNS provider, set this record:`)
    context.terminal.out(`  ${hostname}.  A  ${platform_ip}`)
    context.terminal.out(`Then: homeport domains verify ${hostname}`)
  }
  return exitCodes.success
}

async function verify(context: CommandContext): Promise<number> {
  const [, hostname = ''] = requirePositionals(context, 'verify', 'HOST')
  const client = context.connect()
  const response = await client.call('verifyDomain', { params: { id: (await findDomain(client, hostname)).id } })
  const { domain, checks } = response
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else {
    for (const check of checks) {
      const mark = check.ok ? colorize(context.terminal, 'green', 'ok   ') : colorize(context.terminal, 'red', 'wrong')
      context.terminal.out(`${mark}  ${check.type.padEnd(5)}  expected ${check.expected}, found ${check.found.join(', ') || 'nothing'}`)
      context.terminal.out(`       ${check.message}`)
    }
    context.terminal.out(
      domain.status === 'verified' ? `${hostname} is verified and points to ${domain.project_slug}.` : `${hostname} is not verified yet.`,
    )
  }
  return domain.status === 'verified' && domain.last_check_error === null ? exitCodes.success : exitCodes.failure
}

async function remove(context: CommandContext): Promise<number> {
  const [, hostname = ''] = requirePositionals(context, 'remove', 'HOST')
  const client = context.connect()
  await client.call('deleteDomain', { params: { id: (await findDomain(client, hostname)).id } })
  context.terminal.out(context.is_json ? JSON.stringify({ removed: hostname }) : `Removed ${hostname}. It no longer gets traffic.`)
  return exitCodes.success
}

async function search(context: CommandContext): Promise<number> {
  const [, name = ''] = requirePositionals(context, 'search', 'NAME')
  const response = await context.connect().call('searchDomains', { query: { q: name } })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else {
    const rows = response.results.map((one) => [
      one.hostname,
      one.available ? 'available' : 'not available',
      one.price_cents === null ? '' : `${(one.price_cents / 100).toFixed(2)} ${one.currency} a year`,
    ])
    for (const line of formatTable(context.terminal, ['HOST', '', 'PRICE'], rows)) context.terminal.out(line.trimEnd())
  }
  return exitCodes.success
}

async function buy(context: CommandContext): Promise<number> {
  const [, slug = '', hostname = ''] = requirePositionals(context, 'buy', 'SLUG', 'HOST')
  const { domain } = await context.connect().call('purchaseDomain', { params: { slug }, body: { hostname } })
  const ends = domain.expires_at === null ? '' : ` It expires on ${domain.expires_at.slice(0, 10)}.`
  context.terminal.out(context.is_json ? JSON.stringify({ domain }) : `Bought ${hostname} for ${domain.project_slug}.${ends}`)
  return exitCodes.success
}

async function transfer(context: CommandContext): Promise<number> {
  const [, hostname = ''] = requirePositionals(context, 'transfer', 'HOST')
  const client = context.connect()
  const response = await client.call('transferDomain', { params: { id: (await findDomain(client, hostname)).id } })
  if (context.is_json) context.terminal.out(JSON.stringify(response))
  else
    context.terminal.out(`Enter this code at the new registrar. To cancel the transfer: homeport domains verify ${hostname}\n${response.auth_code}`)
  return exitCodes.success
}

/** A domain by its hostname, or by its id. */
async function findDomain(client: ApiClient, name: string): Promise<Domain> {
  const { domains: all } = await client.call('listDomains', {})
  const match = all.find((one) => one.hostname === name.toLowerCase() || one.id === name)
  // The API rejects an unknown ID.
  return match ?? (await client.call('getDomain', { params: { id: name } })).domain
}
