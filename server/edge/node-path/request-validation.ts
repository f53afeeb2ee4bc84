import { parseHostName } from '../host-header.ts'
import { limits } from '../limits.ts'
import type { EdgeRequest } from '../request.ts'

export interface RequestRejection {
  status: number
  message: string
}

/** Why a request is not passed on, or `undefined`. Node's parser has refused what is wrong in its form; this is about doubt. */
export function validateRequest(request: EdgeRequest): RequestRejection | undefined {
  const raw = request.rawHeaders
  if (request.httpVersion !== '1.1' && request.httpVersion !== '1.0') return { status: 400, message: 'Only HTTP/1.1 and HTTP/1.0 are spoken here.' }
  if (raw.length > limits.header_count * 2)
    return { status: 431, message: `A request may have ${limits.header_count} headers, this one has ${raw.length / 2}.` }
  let hosts = 0
  let codings = 0
  let lengths = 0
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]?.toLowerCase()
    if (name === 'host') hosts++
    else if (name === 'transfer-encoding') codings += raw[i + 1]?.toLowerCase() === 'chunked' ? 1 : 2
    else if (name === 'content-length') lengths++
  }
  if (hosts !== 1) return { status: 400, message: `A request needs exactly one Host header, this one has ${hosts}.` }
  if (codings > 1 || (codings === 1 && request.httpVersion === '1.0'))
    return { status: 400, message: 'The only transfer coding that is taken is chunked, once, in HTTP/1.1.' }
  if (lengths > 1 || (lengths === 1 && codings === 1)) return { status: 400, message: 'The length of the body is given in two ways.' }
  if (!/^\/[!-~]*$/.test(request.url ?? '') || request.url?.includes('#'))
    return { status: 400, message: 'The address of a request begins with a slash and has no spaces or signs outside of ASCII in it.' }
  if (request.method === 'TRACE' || request.method === 'CONNECT') return { status: 405, message: `${request.method} is not taken here.` }
  if (parseHostName(request.headers.host ?? '') === undefined) return { status: 400, message: 'The Host header is no host name.' }
  return undefined
}
