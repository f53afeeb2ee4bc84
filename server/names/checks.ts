import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Check } from '../contract/instance.ts'
import type { HostsFileStatus, HttpsStatus } from '../contract/network.ts'
import type { Clock } from '../lib/clock.ts'

/** What a name leads to, by the system's resolver; empty: it does not know it. */
export type Resolve = (name: string) => Promise<string[]>

export const systemResolve: Resolve = async (name) => (await lookup(name, { all: true })).map((one) => one.address)

const patience_ms = 3_000
/** Names that are tried out: some of each kind tell enough. */
const sampled = 3

export interface NamesFacts {
  https: HttpsStatus
  https_fell_back: boolean
  hosts_file: HostsFileStatus
  is_hosts_file_wanted: boolean
  /** Every local name of the instance. */
  names: string[]
  /** Addresses of this machine beside the loopback ones. */
  own_addresses: string[]
  platform: NodeJS.Platform
}

/** Explains what names lead to and who believes our certificates, with the mend for each. */
export async function checkNames(facts: NamesFacts, resolve: Resolve, clock: Clock): Promise<Check[]> {
  return [...(await nameChecks(facts, resolve, clock)), hostsFile(facts), httpsPort(facts), ...trust(facts)].filter((one) => one !== undefined)
}

async function nameChecks(facts: NamesFacts, resolve: Resolve, clock: Clock): Promise<Check[]> {
  const local = facts.names.filter((name) => name.endsWith('.localhost')).slice(-sampled)
  const custom = facts.names.filter((name) => !name.endsWith('.localhost')).slice(-sampled)
  const tried = await Promise.all(
    [...(local.length > 0 ? local : ['homeport-doctor.localhost']), ...custom].map((name) => one(name, facts, resolve, clock)),
  )
  return tried
}

async function one(name: string, facts: NamesFacts, resolve: Resolve, clock: Clock): Promise<Check> {
  const late = Promise.withResolvers<string[]>()
  const timer = clock.setTimeout(() => late.resolve([]), patience_ms).unref()
  const found = await Promise.race([resolve(name).catch(() => []), late.promise])
  timer.cancel()
  const isHere = (address: string): boolean => isLoopback(address) || facts.own_addresses.includes(address)
  if (found.length > 0 && found.every(isHere))
    return { name: `name ${name}`, status: 'ok', message: `Leads to this machine (${found.join(', ')}).`, mend: null }
  const isLocal = name.endsWith('.localhost')
  const who = isLocal
    ? facts.platform === 'darwin'
      ? 'Chrome, Edge and Firefox open it all the same; Safari and other programs of macOS do not.'
      : 'Chrome, Edge and Firefox open it all the same; curl, Node and other programs may not.'
    : 'No program finds it here.'
  return {
    name: `name ${name}`,
    status: 'warning',
    message: found.length === 0 ? `The system’s resolver does not know it. ${who}` : `It leads to ${found.join(', ')}, which is not this machine.`,
    mend: hostsMend(facts, isLocal),
  }
}

function hostsMend({ hosts_file, platform }: NamesFacts, isLocal: boolean): string {
  const first = isLocal && platform === 'linux' ? 'Install libnss-myhostname, or put' : 'Put'
  return hosts_file.command === null
    ? `${first} the names into the hosts file: npx homeport settings set hosts_file true`
    : `${first} the names into the hosts file: ${hosts_file.command}`
}

function hostsFile({ hosts_file, is_hosts_file_wanted }: NamesFacts): Check | undefined {
  if (!is_hosts_file_wanted) return undefined
  const name = 'hosts file'
  if (hosts_file.in_sync) return { name, status: 'ok', message: `${hosts_file.path} has every name.`, mend: null }
  if (hosts_file.writable) return { name, status: 'ok', message: `${hosts_file.path} will have every name in a moment.`, mend: null }
  return { name, status: 'warning', message: `${hosts_file.path} lacks some names, and Homeport may not write it.`, mend: hosts_file.command }
}

function httpsPort({ https, https_fell_back }: NamesFacts): Check {
  const name = 'port https'
  if (https.edge_https_url === null)
    return { name, status: 'failed', message: 'HTTPS has no port.', mend: 'Start Homeport again with --edge-https-port 0, which takes a free one.' }
  if (!https_fell_back) return { name, status: 'ok', message: https.edge_https_url, mend: null }
  return {
    name,
    status: 'warning',
    message: `Its usual port is taken, so it is at ${https.edge_https_url} for this run.`,
    mend: 'Stop what holds the usual port and start Homeport again, or choose a port with --edge-https-port.',
  }
}

function trust({ https }: NamesFacts): Check[] {
  if (https.authority === null)
    return [
      {
        name: 'certificates',
        status: 'ok',
        message: 'None was needed yet. npx homeport trust has browsers take them without a warning.',
        mend: null,
      },
    ]
  return https.trust.map(({ store, status, command }): Check => {
    const name = `certificates ${store}`
    if (status === 'trusted') return { name, status: 'ok', message: 'Trusts this instance.', mend: null }
    const mend = status === 'unavailable' ? command : `npx homeport trust${command === null ? '' : ` (or: ${command})`}`
    const message =
      status === 'unavailable'
        ? 'Could not be asked: the program for it is not here.'
        : 'Does not trust this instance: it warns of its HTTPS addresses.'
    return { name, status: 'warning', message, mend }
  })
}

const isLoopback = (address: string): boolean => (isIP(address) === 4 ? address.startsWith('127.') : address === '::1')
