import { parseHostName } from '../host-header.ts'
import { edgeLimits } from '../limits.ts'
import type { EdgeRequest } from '../request.ts'

export interface RequestRejection {
  status: number
  message: string
}

/** Why a request is rejected, or `undefined`. Node's parser has already rejected malformed requests; this check rejects ambiguous ones. */
export function validateRequest(request: EdgeRequest): RequestRejection | undefined {
  const raw = request.rawHeaders
  if (request.httpVersion !== '1.1' && request.httpVersion !== '1.0') return { status: 400, message: 'Only HTTP/1.1 and HTTP/1.0 are supported.' }
  if (raw.length > edgeLimits.header_count * 2)
    return { status: 431, message: `The request has ${raw.length / 2} headers; the limit is ${edgeLimits.header_count}.` }
  let hosts = 0
  let codings = 0
  let lengths = 0
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]?.toLowerCase()
    if (name === 'host') hosts++
    else if (name === 'transfer-encoding') codings += raw[i + 1]?.toLowerCase() === 'chunked' ? 1 : 2
    else if (name === 'content-length') lengths++
  }
  if (hosts !== 1) return { status: 400, message: `The request has ${hosts} Host headers; exactly one is required.` }
  if (codings > 1 || (codings === 1 && request.httpVersion === '1.0'))
    return { status: 400, message: 'The only supported transfer coding is chunked, once, in HTTP/1.1.' }
  if (lengths > 1 || (lengths === 1 && codings === 1)) return { status: 400, message: 'The length of the body is specified twice.' }
  if (!/^\/[!-~]*$/.test(request.url ?? '') || request.url?.includes('#'))
    return { status: 400, message: 'The request target must start with a slash and contain only printable ASCII characters without spaces.' }
  if (request.method === 'TRACE' || request.method === 'CONNECT') return { status: 405, message: `${request.method} is not supported.` }
  if (parseHostName(request.headers.host ?? '') === undefined) return { status: 400, message: 'The Host header is not a valid host name.' }
  return undefined
}
