/** A host name or an address as the host part of a URL: IPv6 in brackets. */
export const formatHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)
