import type { CapturedMessage } from '../../../server/contract/request-captures.ts'
import { type EdgeUrls, formatRequestUrl } from '../../../server/contract/request-url.ts'
import type { LoggedRequest } from '../../../server/contract/requests.ts'

/** A command that sends the same request again, with the headers and the body that were captured of it. */
export function toCurl(logged: LoggedRequest, edgeUrls: EdgeUrls, captured?: CapturedMessage): string {
  const { method } = logged
  const url = formatRequestUrl(logged, edgeUrls)
  const option = method === 'GET' ? '' : method === 'HEAD' ? '--head ' : `--request ${/^[A-Z]+$/.test(method) ? method : quote(method)} `
  const headers = (captured?.headers ?? []).filter(([name]) => !ownHeaders.has(name.toLowerCase()))
  const headerOptions = headers.map(([name, value]) => `--header ${quote(`${name}: ${value}`)} `).join('')
  const body = captured?.body != null && captured.encoding === 'text' ? ` --data-raw ${quote(captured.body)}` : ''
  return `curl ${method === 'HEAD' ? '' : '--include '}${option}${headerOptions}${quote(url)}${body}`
}

/** Headers that curl sets itself. */
const ownHeaders = new Set(['host', 'content-length', 'content-encoding', 'connection', 'transfer-encoding', 'accept-encoding', 'expect'])

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
