import type { LoggedRequest } from './requests.ts'

/** Where apps answer; null where there is no address. */
export interface EdgeUrls {
  edge_url: string | null
  edge_https_url: string | null
}

/** The URL of a logged request, with the port of the edge, which the log does not have. */
export function formatRequestUrl(
  { scheme, host, path, query }: Pick<LoggedRequest, 'scheme' | 'host' | 'path' | 'query'>,
  { edge_url, edge_https_url }: EdgeUrls,
): string {
  const edge = scheme === 'https' ? edge_https_url : edge_url
  const port = edge === null ? '' : (URL.parse(edge)?.port ?? '')
  return `${scheme}://${host}${port === '' ? '' : `:${port}`}${path}${query === null ? '' : `?${query}`}`
}
