const parsedHosts = new Map<string, string>()

/**
 * The name in a Host header: lower case, without port and one trailing dot. `undefined` when it is no host at all (user
 * info, spaces, signs).
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

/** The port that a Host header names. */
export const parseHostPort = (raw: string, proto: 'http' | 'https'): string => /:(\d{1,5})$/.exec(raw)?.[1] ?? (proto === 'https' ? '443' : '80')

/** An address, or a name that no name server of the internet gives: how a machine is called on the network around it. */
export const isLocalNetworkName = (name: string): boolean =>
  name.startsWith('[') || /^[\d.]+$/.test(name) || !name.includes('.') || /\.(local|lan|home|internal|home\.arpa)$/.test(name)
