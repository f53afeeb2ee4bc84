import type { Domain } from '../contract/domains.ts'
import type { Client } from './client.ts'
import { type Call, type Command, exitCodes, UsageError, words } from './command.ts'
import { paint, table } from './terminal.ts'

export const domains: Command = {
  summary: 'Lists, adds, verifies, buys and removes hostnames of your own.',
  forms: [
    'domains [list] [SLUG]',
    'domains add SLUG HOST',
    'domains verify HOST',
    'domains remove HOST',
    'domains search NAME',
    'domains buy SLUG HOST',
    'domains transfer HOST',
  ],
  options: {},
  more: [
    'A name routes once it is verified: set an A record for it to the address that add and list name, then verify.',
    'verify asks DNS and says what it found; it ends with 1 when the name does not lead here yet.',
  ].join('\n'),
  async run(call) {
    const verb = call.words[0] ?? 'list'
    if (!Object.hasOwn(verbs, verb)) throw new UsageError(`“${verb}” is none of ${Object.keys(verbs).join(', ')}.`)
    return verbs[verb as keyof typeof verbs](call)
  },
}

const verbs = { list, add, verify, remove, search, buy, transfer }

async function list(call: Call): Promise<number> {
  const [, slug] = words(call, '[list]', '[SLUG]')
  const client = call.connect()
  const found = slug === undefined ? await client.call('listDomains', {}) : await client.call('listProjectDomains', { params: { slug } })
  if (call.json) call.terminal.out(JSON.stringify(found))
  else if (found.domains.length === 0) call.terminal.out('No domains yet. Add one with: homeport domains add SLUG HOST')
  else {
    const rows = found.domains.map((one) => [one.hostname, one.project_slug, one.status, one.last_check_error ?? ''])
    for (const line of table(call.terminal, ['HOST', 'PROJECT', 'STATUS', ''], rows)) call.terminal.out(line.trimEnd())
    call.terminal.err(`A records of your own names have to name ${found.platform_ip}.`)
  }
  return exitCodes.done
}

async function add(call: Call): Promise<number> {
  const [, slug = '', hostname = ''] = words(call, 'add', 'SLUG', 'HOST')
  const client = call.connect()
  const { domain } = await client.call('addDomain', { params: { slug }, body: { hostname } })
  const { platform_ip } = await client.call('getDomain', { params: { id: domain.id } })
  if (call.json) call.terminal.out(JSON.stringify({ platform_ip, domain }))
  else {
    call.terminal.out(`Added ${hostname}. At your DNS provider, set this record:`)
    call.terminal.out(`  ${hostname}.  A  ${platform_ip}`)
    call.terminal.out(`Then: homeport domains verify ${hostname}`)
  }
  return exitCodes.done
}

async function verify(call: Call): Promise<number> {
  const [, hostname = ''] = words(call, 'verify', 'HOST')
  const client = call.connect()
  const answer = await client.call('verifyDomain', { params: { id: (await domainCalled(client, hostname)).id } })
  const { domain, checks } = answer
  if (call.json) call.terminal.out(JSON.stringify(answer))
  else {
    for (const check of checks) {
      const mark = check.ok ? paint(call.terminal, 'green', 'ok   ') : paint(call.terminal, 'red', 'wrong')
      call.terminal.out(`${mark}  ${check.type.padEnd(5)}  expected ${check.expected}, found ${check.found.join(', ') || 'nothing'}`)
      call.terminal.out(`       ${check.message}`)
    }
    call.terminal.out(
      domain.status === 'verified' ? `${hostname} is verified and leads to ${domain.project_slug}.` : `${hostname} is ${domain.status}.`,
    )
  }
  return domain.status === 'verified' && domain.last_check_error === null ? exitCodes.done : exitCodes.refused
}

async function remove(call: Call): Promise<number> {
  const [, hostname = ''] = words(call, 'remove', 'HOST')
  const client = call.connect()
  await client.call('deleteDomain', { params: { id: (await domainCalled(client, hostname)).id } })
  call.terminal.out(call.json ? JSON.stringify({ removed: hostname }) : `Removed ${hostname}. It leads nowhere from now on.`)
  return exitCodes.done
}

async function search(call: Call): Promise<number> {
  const [, name = ''] = words(call, 'search', 'NAME')
  const found = await call.connect().call('searchDomains', { query: { q: name } })
  if (call.json) call.terminal.out(JSON.stringify(found))
  else {
    const rows = found.results.map((one) => [
      one.hostname,
      one.available ? 'available' : 'not available',
      one.price_cents === null ? '' : `${(one.price_cents / 100).toFixed(2)} ${one.currency} a year`,
    ])
    for (const line of table(call.terminal, ['HOST', '', 'PRICE'], rows)) call.terminal.out(line.trimEnd())
  }
  return exitCodes.done
}

async function buy(call: Call): Promise<number> {
  const [, slug = '', hostname = ''] = words(call, 'buy', 'SLUG', 'HOST')
  const { domain } = await call.connect().call('purchaseDomain', { params: { slug }, body: { hostname } })
  const ends = domain.expires_at === null ? '' : ` It is yours until ${domain.expires_at.slice(0, 10)}.`
  call.terminal.out(call.json ? JSON.stringify({ domain }) : `Bought ${hostname}; it leads to ${domain.project_slug}.${ends}`)
  return exitCodes.done
}

async function transfer(call: Call): Promise<number> {
  const [, hostname = ''] = words(call, 'transfer', 'HOST')
  const client = call.connect()
  const answer = await client.call('transferDomain', { params: { id: (await domainCalled(client, hostname)).id } })
  if (call.json) call.terminal.out(JSON.stringify(answer))
  else call.terminal.out(`Give this code to the other registrar; homeport domains verify ${hostname} takes it back.\n${answer.auth_code}`)
  return exitCodes.done
}

/** A domain by its hostname, or by its id. */
async function domainCalled(client: Client, name: string): Promise<Domain> {
  const { domains: all } = await client.call('listDomains', {})
  const found = all.find((one) => one.hostname === name.toLowerCase() || one.id === name)
  // One that is not in the list is refused by the API itself.
  return found ?? (await client.call('getDomain', { params: { id: name } })).domain
}
