import type { LoggedRequest } from '../../../server/contract/requests.ts'

/** A command that sends the same request again. The log has neither headers nor body, so both are left out. `edgeUrls`: where apps answer. */
export function toCurl({ method, scheme, host, path, query }: LoggedRequest, edgeUrls: readonly (string | null)[]): string {
  const edge = edgeUrls.map((url) => (url === null ? null : URL.parse(url))).find((url) => url?.protocol === `${scheme}:`)
  const url = `${scheme}://${host}${edge?.port ? `:${edge.port}` : ''}${path}${query === null ? '' : `?${query}`}`
  const option = method === 'GET' ? '' : method === 'HEAD' ? '--head ' : `--request ${/^[A-Z]+$/.test(method) ? method : quote(method)} `
  return `curl ${method === 'HEAD' ? '' : '--include '}${option}${quote(url)}`
}

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
