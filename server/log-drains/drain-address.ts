import { Problem } from '../contract/errors.ts'
import type { LogDrain } from '../contract/log-drains.ts'
import { parseTargetAddress } from '../notifications/target-address.ts'
import { createCheckedLookup, explainPostError } from '../notifications/post-json.ts'

export interface SyslogAddress {
  protocol: 'tls:' | 'tcp:' | 'udp:'
  /** IPv6 in brackets, as in a URL. */
  hostname: string
  port: number
}

/** RFC 5425, RFC 6587 and RFC 5426. */
const defaultPorts = { 'tls:': 6514, 'tcp:': 601, 'udp:': 514 } as const

/** Windows has devices of these names. */
const reservedName = /^(?:con|prn|aux|nul|com\d|lpt\d)$/

/**
 * The address of a drain as it is stored: a URL, `tls://host:port`, or the name of a file. `is_trusted`: the instance owner sets it. The addresses of a host
 * are checked at each connection.
 */
export function parseDrainAddress(kind: LogDrain['kind'], text: string, is_trusted: boolean): string {
  if (kind === 'http') return parseTargetAddress('webhook', text, is_trusted)
  if (kind === 'syslog') {
    const address = parseSyslogAddress(text)
    if (!address) throw addressProblem('Enter an address such as tls://logs.example.com:6514.')
    if (address.protocol !== 'tls:' && !is_trusted) throw addressProblem('Use tls://.')
    try {
      createCheckedLookup(address, is_trusted)
    } catch (error) {
      throw addressProblem(explainPostError(error))
    }
    return formatSyslogAddress(address)
  }
  const name = text.replace(/\.log$/, '')
  if (!/^[a-z0-9][a-z0-9_-]{0,62}$/.test(name) || reservedName.test(name))
    throw addressProblem('Enter a file name of lower-case letters, digits, hyphens and underscores, such as access.')
  return name
}

export function parseSyslogAddress(text: string): SyslogAddress | undefined {
  const [, scheme, authority, port] = /^(tls|tcp|udp):\/\/([^\s/?#@:]+|\[[\da-f:.]+\])(?::(\d{1,5}))?\/?$/i.exec(text) ?? []
  const url = authority !== undefined && URL.canParse(`https://${authority}/`) ? new URL(`https://${authority}/`) : undefined
  if (!url || scheme === undefined || Number(port) > 65_535 || port === '0') return undefined
  const protocol = `${scheme.toLowerCase()}:` as SyslogAddress['protocol']
  return { protocol, hostname: url.hostname, port: port === undefined ? defaultPorts[protocol] : Number(port) }
}

const formatSyslogAddress = ({ protocol, hostname, port }: SyslogAddress): string => `${protocol}//${hostname}:${port}`

const addressProblem = (message: string) => new Problem('invalid_input', message, { issues: [{ path: 'address', message }] })

/** What is shown of an address. Path and query of a URL are credentials at many log services. */
export function displayDrainAddress(kind: LogDrain['kind'], address: string, projectId: string): string {
  if (kind === 'file') return `${projectId}/${address}.log`
  if (kind === 'syslog') return address
  const url = new URL(address)
  return url.pathname === '/' && url.search === '' ? url.origin : `${url.origin}/…`
}

/** What a drain is called by default. */
export const defaultDrainName = (kind: LogDrain['kind'], address: string): string => (kind === 'file' ? address : new URL(address).host)
