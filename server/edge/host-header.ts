const parsedHosts = new Map<string, string>()

/**
 * The host name in a Host header: lower case, without port and without one trailing dot. `undefined` if the header is not a valid host (user info,
 * spaces, other characters).
 */
export function parseHostName(raw: string): string | undefined {
  const cached = parsedHosts.get(raw)
  if (cached !== undefined) return cached
  const match = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9_](?:[a-z0-9_.-]{0,252})?)(?::\d{1,5})?$/i.exec(raw)
  if (!match?.[1]) return undefined
  if (match[1].includes('..')) return undefined
  const name = match[1].toLowerCase().replace(/\.$/, '')
  if (parsedHosts.size > 4096) parsedHosts.clear()
  parsedHosts.set(raw, name)
  return name
}

/** The name of a route. An invalid name stays unchanged and never matches a route. */
export const normalizeHost = (host: string): string => parseHostName(host) ?? host

/** The port in a Host header, or the default port of the scheme. */
export const parseHostPort = (raw: string, proto: 'http' | 'https'): string => /:(\d{1,5})$/.exec(raw)?.[1] ?? (proto === 'https' ? '443' : '80')

/** Whether a host is an IP address or a name that public DNS does not resolve, such as a machine's name on its local network. */
export const isLocalNetworkName = (name: string): boolean =>
  name.startsWith('[') || /^[\d.]+$/.test(name) || !name.includes('.') || /\.(local|lan|home|internal|home\.arpa)$/.test(name)
