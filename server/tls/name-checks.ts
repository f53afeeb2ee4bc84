import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { DoctorCheck } from '../contract/instance.ts'
import type { HostsFileStatus, HttpsStatus } from '../contract/network.ts'
import type { Clock } from '../lib/clock.ts'

/** What a name leads to, by the system's resolver; empty: it does not know it. */
export type ResolveHostname = (name: string) => Promise<string[]>

export const resolveBySystem: ResolveHostname = async (name) => (await lookup(name, { all: true })).map((one) => one.address)

const lookupTimeout_ms = 3_000
/** Names that are tried out: some of each kind tell enough. */
const sampleSize = 3

export interface NameCheckFacts {
  https: HttpsStatus
  https_fell_back: boolean
  hosts_file: HostsFileStatus
  is_hosts_file_enabled: boolean
  /** Every local name of the instance. */
  names: string[]
  /** Addresses of this machine beside the loopback ones. */
  own_addresses: string[]
  platform: NodeJS.Platform
}

/** Explains what names lead to and who believes our certificates, with the mend for each. */
export async function checkNames(facts: NameCheckFacts, resolve: ResolveHostname, clock: Clock): Promise<DoctorCheck[]> {
  return [...(await checkSampledNames(facts, resolve, clock)), checkHostsFile(facts), checkHttpsPort(facts), ...checkTrust(facts)].filter(
    (one) => one !== undefined,
  )
}

async function checkSampledNames(facts: NameCheckFacts, resolve: ResolveHostname, clock: Clock): Promise<DoctorCheck[]> {
  const local = facts.names.filter((name) => name.endsWith('.localhost')).slice(-sampleSize)
  const custom = facts.names.filter((name) => !name.endsWith('.localhost')).slice(-sampleSize)
  const checks = await Promise.all(
    [...(local.length > 0 ? local : ['homeport-doctor.localhost']), ...custom].map((name) => checkName(name, facts, resolve, clock)),
  )
  return checks
}

async function checkName(name: string, facts: NameCheckFacts, resolve: ResolveHostname, clock: Clock): Promise<DoctorCheck> {
  const timeout = Promise.withResolvers<string[]>()
  const timer = clock.setTimeout(() => timeout.resolve([]), lookupTimeout_ms).unref()
  const addresses = await Promise.race([resolve(name).catch(() => []), timeout.promise])
  timer.cancel()
  const isHere = (address: string): boolean => isLoopback(address) || facts.own_addresses.includes(address)
  if (addresses.length > 0 && addresses.every(isHere))
    return { name: `name ${name}`, status: 'ok', message: `Leads to this machine (${addresses.join(', ')}).`, mend: null }
  const isLocal = name.endsWith('.localhost')
  const affected = isLocal
    ? facts.platform === 'darwin'
      ? 'Chrome, Edge and Firefox open it all the same; Safari and other programs of macOS do not.'
      : 'Chrome, Edge and Firefox open it all the same; curl, Node and other programs may not.'
    : 'No program finds it here.'
  return {
    name: `name ${name}`,
    status: 'warning',
    message:
      addresses.length === 0
        ? `The system’s resolver does not know it. ${affected}`
        : `It leads to ${addresses.join(', ')}, which is not this machine.`,
    mend: hostsFileFix(facts, isLocal),
  }
}

function hostsFileFix({ hosts_file, platform }: NameCheckFacts, isLocal: boolean): string {
  const first = isLocal && platform === 'linux' ? 'Install libnss-myhostname, or put' : 'Put'
  return hosts_file.command === null
    ? `${first} the names into the hosts file: npx homeport settings set hosts_file true`
    : `${first} the names into the hosts file: ${hosts_file.command}`
}

function checkHostsFile({ hosts_file, is_hosts_file_enabled }: NameCheckFacts): DoctorCheck | undefined {
  if (!is_hosts_file_enabled) return undefined
  const name = 'hosts file'
  if (hosts_file.in_sync) return { name, status: 'ok', message: `${hosts_file.path} has every name.`, mend: null }
  if (hosts_file.writable) return { name, status: 'ok', message: `${hosts_file.path} will have every name in a moment.`, mend: null }
  return { name, status: 'warning', message: `${hosts_file.path} lacks some names, and Homeport may not write it.`, mend: hosts_file.command }
}

function checkHttpsPort({ https, https_fell_back }: NameCheckFacts): DoctorCheck {
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

function checkTrust({ https }: NameCheckFacts): DoctorCheck[] {
  if (https.authority === null)
    return [
      {
        name: 'certificates',
        status: 'ok',
        message: 'None was needed yet. npx homeport trust has browsers take them without a warning.',
        mend: null,
      },
    ]
  return https.trust.map(({ store, status, command }): DoctorCheck => {
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
