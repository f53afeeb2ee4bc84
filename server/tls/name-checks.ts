import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { DoctorCheck } from '../contract/instance.ts'
import type { HostsFileStatus, HttpsStatus } from '../contract/network.ts'
import type { Clock } from '../lib/clock.ts'

/** Resolves a name with the system's resolver; empty if it is unknown. */
export type ResolveHostname = (name: string) => Promise<string[]>

export const resolveBySystem: ResolveHostname = async (name) => (await lookup(name, { all: true })).map((entry) => entry.address)

const lookupTimeout_ms = 3_000
/** How many names of each kind are checked. */
const sampleSize = 3

export interface NameCheckFacts {
  https: HttpsStatus
  https_fell_back: boolean
  hosts_file: HostsFileStatus
  is_hosts_file_enabled: boolean
  /** Every local name of the instance. */
  names: string[]
  /** Addresses of this machine other than loopback. */
  own_addresses: string[]
  platform: NodeJS.Platform
}

/** Checks what local names resolve to and who trusts the certificates, with a fix for each problem. */
export async function checkNames(facts: NameCheckFacts, resolve: ResolveHostname, clock: Clock): Promise<DoctorCheck[]> {
  return [...(await checkSampledNames(facts, resolve, clock)), checkHostsFile(facts), checkHttpsPort(facts), ...checkTrust(facts)].filter(
    (check) => check !== undefined,
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
    return { name: `name ${name}`, status: 'ok', message: `Resolves to this machine (${addresses.join(', ')}).`, hint: null }
  const isLocal = name.endsWith('.localhost')
  const affected = isLocal
    ? facts.platform === 'darwin'
      ? 'Chrome, Edge and Firefox open it anyway; Safari and other macOS programs do not.'
      : 'Chrome, Edge and Firefox open it anyway; curl, Node and other programs may not.'
    : 'No program on this machine can resolve it.'
  return {
    name: `name ${name}`,
    status: 'warning',
    message:
      addresses.length === 0
        ? `The system’s resolver does not know this name. ${affected}`
        : `Resolves to ${addresses.join(', ')}, which is not this machine.`,
    hint: hostsFileFix(facts, isLocal),
  }
}

function hostsFileFix({ hosts_file, platform }: NameCheckFacts, isLocal: boolean): string {
  const first = isLocal && platform === 'linux' ? 'Install libnss-myhostname, or add' : 'Add'
  return hosts_file.command === null
    ? `${first} the names to the hosts file: npx homeport settings set hosts_file true`
    : `${first} the names to the hosts file: ${hosts_file.command}`
}

function checkHostsFile({ hosts_file, is_hosts_file_enabled }: NameCheckFacts): DoctorCheck | undefined {
  if (!is_hosts_file_enabled) return undefined
  const name = 'hosts file'
  if (hosts_file.in_sync) return { name, status: 'ok', message: `${hosts_file.path} contains every name.`, hint: null }
  if (hosts_file.writable) return { name, status: 'ok', message: `${hosts_file.path} will contain every name shortly.`, hint: null }
  return { name, status: 'warning', message: `${hosts_file.path} is missing some names, and Homeport cannot write to it.`, hint: hosts_file.command }
}

function checkHttpsPort({ https, https_fell_back }: NameCheckFacts): DoctorCheck {
  const name = 'port https'
  if (https.edge_https_url === null)
    return { name, status: 'failed', message: 'HTTPS has no port.', hint: 'Restart Homeport with --edge-https-port 0 to use any free port.' }
  if (!https_fell_back) return { name, status: 'ok', message: https.edge_https_url, hint: null }
  return {
    name,
    status: 'warning',
    message: `The default port is in use, so HTTPS is at ${https.edge_https_url} for this run.`,
    hint: 'Stop the program that uses the default port and restart Homeport, or choose a port with --edge-https-port.',
  }
}

function checkTrust({ https }: NameCheckFacts): DoctorCheck[] {
  if (https.authority === null)
    return [
      {
        name: 'certificates',
        status: 'ok',
        message: 'No certificate has been needed yet. To avoid browser warnings, run: npx homeport trust',
        hint: null,
      },
    ]
  return https.trust.map(({ store, status, command }): DoctorCheck => {
    const name = `certificates ${store}`
    if (status === 'trusted') return { name, status: 'ok', message: 'Trusts this instance.', hint: null }
    const hint = status === 'unavailable' ? command : `npx homeport trust${command === null ? '' : ` (or: ${command})`}`
    const message =
      status === 'unavailable'
        ? 'Could not be checked, because the required program is not installed.'
        : 'Does not trust this instance, so it warns about its HTTPS addresses.'
    return { name, status: 'warning', message, hint }
  })
}

const isLoopback = (address: string): boolean => (isIP(address) === 4 ? address.startsWith('127.') : address === '::1')
