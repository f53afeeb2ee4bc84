import { lookup } from 'node:dns/promises'
import type { DoctorCheck } from '../contract/instance.ts'
import { systemClock } from '../lib/clock.ts'
import { localSuffixes } from '../lib/local-suffixes.ts'

interface DnsCheckInput {
  /** Number of bought names of the own DNS server, and an example. */
  count: number
  sample: string | null
  /** Domains that could not be renewed or pointed to this instance. */
  failing: { hostname: string; last_error: string }[]
  /** The setting `dns_server`. */
  configuredPort: number | null
  port: number | undefined
  listenError: string | undefined
  platform?: NodeJS.Platform
  resolve?: (name: string) => Promise<string[]>
}

const defaultDnsPort = 4653
const lookupTimeout_ms = 3_000

/** Doctor checks for bought domains and the own DNS server. */
export async function runDnsChecks(facts: DnsCheckInput): Promise<DoctorCheck[]> {
  const renewals = facts.failing.map(({ hostname, last_error }): DoctorCheck => ({
    name: `bought name ${hostname}`,
    status: 'warning',
    message: last_error,
    hint: 'Fix the problem in the message. Homeport tries again every hour.',
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
  const description = count === 1 ? 'One bought domain' : `${count} bought domains`
  if (configuredPort === null)
    return count === 0 || sample === null
      ? { name, status: 'ok', message: 'Off: no bought domain needs it.', hint: null }
      : {
          name,
          status: 'warning',
          message: `Off. ${description} such as ${sample} cannot be opened on this machine unless it is on, or the hosts file has the names.`,
          hint: `homeport settings set dns_server ${defaultDnsPort}`,
        }
  if (port === undefined)
    return {
      name,
      status: 'failed',
      message: listenError ?? 'The DNS server is not listening.',
      hint: `Choose another port: homeport settings set dns_server ${defaultDnsPort}`,
    }
  if (sample === null) return { name, status: 'ok', message: `Listening on 127.0.0.1:${port}. No domains bought yet.`, hint: null }
  const timeout = new Promise<string[]>((done) => void systemClock.setTimeout(() => done([]), lookupTimeout_ms).unref())
  const addresses = await Promise.race([resolve(sample).catch(() => []), timeout])
  if (addresses.length > 0)
    return { name, status: 'ok', message: `Listening on 127.0.0.1:${port}. The system resolves ${sample} to ${addresses.join(', ')}.`, hint: null }
  return {
    name,
    status: 'warning',
    message: `Listening on 127.0.0.1:${port}, but the system does not use it for ${sample}.`,
    hint: resolverSetupCommand(port, platform),
  }
}

/** The command that makes the system use the own DNS server for the local suffixes. */
function resolverSetupCommand(port: number, platform: NodeJS.Platform): string {
  const endings = localSuffixes.join(' ')
  if (platform === 'darwin')
    return `sudo mkdir -p /etc/resolver && for e in ${endings}; do printf 'nameserver 127.0.0.1\\nport ${port}\\n' | sudo tee /etc/resolver/$e; done`
  if (platform === 'win32')
    return port === 53
      ? `Add-DnsClientNrptRule -Namespace ${localSuffixes.map((ending) => `'.${ending}'`).join(',')} -NameServers 127.0.0.1 (PowerShell, as administrator)`
      : 'Windows supports only port 53: homeport settings set dns_server 53, then homeport doctor again.'
  const domains = localSuffixes.map((ending) => `~${ending}`).join(' ')
  return `With systemd-resolved: sudo mkdir -p /etc/systemd/resolved.conf.d && printf '[Resolve]\\nDNS=127.0.0.1:${port}\\nDomains=${domains}\\n' | sudo tee /etc/systemd/resolved.conf.d/homeport.conf && sudo systemctl restart systemd-resolved. With dnsmasq: server=/${localSuffixes.join('/')}/127.0.0.1#${port}`
}

const resolveWithSystem = async (name: string): Promise<string[]> => (await lookup(name, { all: true })).map((one) => one.address)
