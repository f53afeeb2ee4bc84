import { lookup } from 'node:dns/promises'
import type { DoctorCheck } from '../contract/instance.ts'
import { systemClock } from '../lib/clock.ts'
import { localSuffixes } from '../lib/local-suffixes.ts'

interface DnsCheckInput {
  /** Bought names that the own DNS server answers for, and one of them. */
  count: number
  sample: string | null
  /** Names that could not be renewed or pointed here. */
  failing: { hostname: string; last_error: string }[]
  /** The setting. */
  configuredPort: number | null
  port: number | undefined
  listenError: string | undefined
  platform?: NodeJS.Platform
  resolve?: (name: string) => Promise<string[]>
}

const defaultDnsPort = 4653
const lookupTimeout_ms = 3_000

/** What a person should know of bought names and of the DNS server that answers for local ones, with the line that mends it. */
export async function runDnsChecks(facts: DnsCheckInput): Promise<DoctorCheck[]> {
  const renewals = facts.failing.map(({ hostname, last_error }): DoctorCheck => ({
    name: `bought name ${hostname}`,
    status: 'warning',
    message: last_error,
    mend: 'Put right what it says; Homeport tries again every hour.',
  }))
  return [await checkDnsServer(facts), ...renewals]
}

async function checkDnsServer({
  count,
  sample,
  configuredPort,
  port,
  listenError,
  platform = process.platform,
  resolve = resolveWithSystem,
}: DnsCheckInput): Promise<DoctorCheck> {
  const name = 'dns server'
  const description = count === 1 ? 'One bought name' : `${count} bought names`
  if (configuredPort === null)
    return count === 0 || sample === null
      ? { name, status: 'ok', message: 'Off: no bought name needs it.', mend: null }
      : {
          name,
          status: 'warning',
          message: `Off. ${description} such as ${sample} can be opened from this machine only once it is on, or through the hosts file.`,
          mend: `homeport settings set dns_server ${defaultDnsPort}`,
        }
  if (port === undefined)
    return {
      name,
      status: 'failed',
      message: listenError ?? 'It does not listen.',
      mend: `Choose another port: homeport settings set dns_server ${defaultDnsPort}`,
    }
  if (sample === null) return { name, status: 'ok', message: `Answers at 127.0.0.1:${port}; no name was bought yet.`, mend: null }
  const timeout = new Promise<string[]>((done) => void systemClock.setTimeout(() => done([]), lookupTimeout_ms).unref())
  const addresses = await Promise.race([resolve(sample).catch(() => []), timeout])
  if (addresses.length > 0)
    return { name, status: 'ok', message: `Answers at 127.0.0.1:${port}; the system finds ${sample} at ${addresses.join(', ')}.`, mend: null }
  return {
    name,
    status: 'warning',
    message: `Answers at 127.0.0.1:${port}, but the system does not ask it for ${sample}.`,
    mend: resolverSetupCommand(port, platform),
  }
}

/** The line that makes a system ask a server of this machine for our endings. */
function resolverSetupCommand(port: number, platform: NodeJS.Platform): string {
  const endings = localSuffixes.join(' ')
  if (platform === 'darwin')
    return `sudo mkdir -p /etc/resolver && for e in ${endings}; do printf 'nameserver 127.0.0.1\\nport ${port}\\n' | sudo tee /etc/resolver/$e; done`
  if (platform === 'win32')
    return port === 53
      ? `Add-DnsClientNrptRule -Namespace ${localSuffixes.map((ending) => `'.${ending}'`).join(',')} -NameServers 127.0.0.1 (PowerShell, as administrator)`
      : 'Windows asks at port 53 alone: homeport settings set dns_server 53, then homeport doctor again.'
  const domains = localSuffixes.map((ending) => `~${ending}`).join(' ')
  return `With systemd-resolved: sudo mkdir -p /etc/systemd/resolved.conf.d && printf '[Resolve]\\nDNS=127.0.0.1:${port}\\nDomains=${domains}\\n' | sudo tee /etc/systemd/resolved.conf.d/homeport.conf && sudo systemctl restart systemd-resolved. With dnsmasq: server=/${localSuffixes.join('/')}/127.0.0.1#${port}`
}

const resolveWithSystem = async (name: string): Promise<string[]> => (await lookup(name, { all: true })).map((one) => one.address)
