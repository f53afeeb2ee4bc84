import { lookup } from 'node:dns/promises'
import type { Check } from '../contract/instance.ts'
import { systemClock } from '../lib/clock.ts'
import { localEndings } from '../lib/local-endings.ts'

interface DnsFacts {
  /** Bought names that the own DNS server answers for, and one of them. */
  count: number
  sample: string | null
  /** Names that could not be renewed or pointed here. */
  troubled: { hostname: string; last_error: string }[]
  /** The setting. */
  wanted: number | null
  port: number | undefined
  trouble: string | undefined
  platform?: NodeJS.Platform
  resolve?: (name: string) => Promise<string[]>
}

const usualPort = 4653
const patience_ms = 3_000

/** What a person should know of bought names and of the DNS server that answers for local ones, with the line that mends it. */
export async function dnsChecks(facts: DnsFacts): Promise<Check[]> {
  const renewals = facts.troubled.map(({ hostname, last_error }): Check => ({
    name: `bought name ${hostname}`,
    status: 'warning',
    message: last_error,
    mend: 'Put right what it says; Homeport tries again every hour.',
  }))
  return [await server(facts), ...renewals]
}

async function server({ count, sample, wanted, port, trouble, platform = process.platform, resolve = systemResolve }: DnsFacts): Promise<Check> {
  const name = 'dns server'
  const bought = count === 1 ? 'One bought name' : `${count} bought names`
  if (wanted === null)
    return count === 0 || sample === null
      ? { name, status: 'ok', message: 'Off: no bought name needs it.', mend: null }
      : {
          name,
          status: 'warning',
          message: `Off. ${bought} such as ${sample} can be opened from this machine only once it is on, or through the hosts file.`,
          mend: `homeport settings set dns_server ${usualPort}`,
        }
  if (port === undefined)
    return {
      name,
      status: 'failed',
      message: trouble ?? 'It does not listen.',
      mend: `Choose another port: homeport settings set dns_server ${usualPort}`,
    }
  if (sample === null) return { name, status: 'ok', message: `Answers at 127.0.0.1:${port}; no name was bought yet.`, mend: null }
  const late = new Promise<string[]>((done) => void systemClock.setTimeout(() => done([]), patience_ms).unref())
  const found = await Promise.race([resolve(sample).catch(() => []), late])
  if (found.length > 0)
    return { name, status: 'ok', message: `Answers at 127.0.0.1:${port}; the system finds ${sample} at ${found.join(', ')}.`, mend: null }
  return {
    name,
    status: 'warning',
    message: `Answers at 127.0.0.1:${port}, but the system does not ask it for ${sample}.`,
    mend: askLine(port, platform),
  }
}

/** The line that makes a system ask a server of this machine for our endings. */
function askLine(port: number, platform: NodeJS.Platform): string {
  const endings = localEndings.join(' ')
  if (platform === 'darwin')
    return `sudo mkdir -p /etc/resolver && for e in ${endings}; do printf 'nameserver 127.0.0.1\\nport ${port}\\n' | sudo tee /etc/resolver/$e; done`
  if (platform === 'win32')
    return port === 53
      ? `Add-DnsClientNrptRule -Namespace ${localEndings.map((ending) => `'.${ending}'`).join(',')} -NameServers 127.0.0.1 (PowerShell, as administrator)`
      : 'Windows asks at port 53 alone: homeport settings set dns_server 53, then homeport doctor again.'
  const domains = localEndings.map((ending) => `~${ending}`).join(' ')
  return `With systemd-resolved: sudo mkdir -p /etc/systemd/resolved.conf.d && printf '[Resolve]\\nDNS=127.0.0.1:${port}\\nDomains=${domains}\\n' | sudo tee /etc/systemd/resolved.conf.d/homeport.conf && sudo systemctl restart systemd-resolved. With dnsmasq: server=/${localEndings.join('/')}/127.0.0.1#${port}`
}

const systemResolve = async (name: string): Promise<string[]> => (await lookup(name, { all: true })).map((one) => one.address)
