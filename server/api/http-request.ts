import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import type { Clock, Timer } from '../lib/clock.ts'

/** Maximum length of the request target, and maximum number of header lines. */
export const maxUrlBytes = 8 * 1024
export const maxHeaders = 100

/** How much of an oversized body is discarded before the 413, so that a client that reads only after writing gets the response. */
const discardLimits = { bytes: 4 * 1024 * 1024, ms: 1000 }

/** All values of a header as received. Node's own record joins or drops repeated ones. */
export function headerValues(req: IncomingMessage, name: string): string[] {
  const values: string[] = []
  for (let i = 0; i < req.rawHeaders.length; i += 2) {
    if (req.rawHeaders[i]?.toLowerCase() === name) values.push(req.rawHeaders[i + 1] ?? '')
  }
  return values
}

/** Rejects requests that Node's parser accepts: old HTTP versions, absolute-form, several Host headers, unusual framing. */
export function validateHttpRequest(req: IncomingMessage): void {
  const url = req.url ?? ''
  if (req.httpVersion !== '1.1') throw new Problem('bad_request', 'Only HTTP/1.1 is supported.')
  if (url.length > maxUrlBytes) throw new Problem('uri_too_long', `The URL is longer than ${maxUrlBytes} bytes. Send long values in the body.`)
  if (req.rawHeaders.length > maxHeaders * 2) throw new Problem('headers_too_large', `Send at most ${maxHeaders} headers.`)
  if (!url.startsWith('/') && !(url === '*' && req.method === 'OPTIONS'))
    throw new Problem('bad_request', 'The request line must contain only a path, such as /v1/projects.')
  const hosts = headerValues(req, 'host')
  if (hosts.length !== 1) throw new Problem('bad_request', hosts.length === 0 ? 'The Host header is missing.' : 'Send exactly one Host header.')
  const coding = req.headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') throw new Problem('bad_request', 'The only supported transfer coding is “chunked”.')
  if (req.headers.expect !== undefined && req.headers.expect.toLowerCase() !== '100-continue') {
    throw new Problem('expectation_failed', 'The only supported expectation is “100-continue”.')
  }
}

/** Whether the request line and headers announce a body. */
export const hasBody = (req: IncomingMessage) => req.headers['transfer-encoding'] !== undefined || (req.headers['content-length'] ?? '0') !== '0'

/** Connections accepted by a network listener. */
const networkSockets = new WeakSet<Socket>()

export const markFromNetwork = (socket: Socket): void => void networkSockets.add(socket)

/** Whether a request comes from this machine: over loopback, and not through a proxy on it. */
export function isLocal(req: IncomingMessage): boolean {
  const peer = req.socket.remoteAddress ?? ''
  const isLoopback = peer === '::1' || /^(::ffff:)?127\./i.test(peer)
  return isLoopback && !networkSockets.has(req.socket) && req.headers.forwarded === undefined && req.headers['x-forwarded-for'] === undefined
}

/** Reads a body of at most 1 MiB. After the 413 for a larger one, the connection must close. */
export function readRequestBody(
  req: IncomingMessage,
  res: ServerResponse,
  { clock, timeout_ms }: { clock: Clock; timeout_ms: number },
): Promise<Buffer> {
  const tooLarge = () => new Problem('payload_too_large', `The body is larger than ${limits.body_bytes} bytes. Send less, or upload an archive.`)
  const announced_bytes = Number(req.headers['content-length'] ?? 0)
  const expectsContinue = req.headers.expect !== undefined
  if (announced_bytes > limits.body_bytes && expectsContinue) return Promise.reject(tooLarge())
  if (expectsContinue) res.writeContinue()

  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    let size = 0
    let timer: Timer | undefined
    const refuse = () => {
      stop()
      req.pause()
      reject(tooLarge())
    }
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (Math.max(size, announced_bytes) <= limits.body_bytes) chunks.push(chunk)
      else {
        chunks = []
        timer ??= clock.setTimeout(refuse, discardLimits.ms)
        if (size > limits.body_bytes + discardLimits.bytes) refuse()
      }
    }
    const onEnd = () => {
      stop()
      if (size > limits.body_bytes) reject(tooLarge())
      else resolve(Buffer.concat(chunks))
    }
    const onClose = () => {
      stop()
      reject(new Problem('bad_request', 'The connection ended before the body was complete.'))
    }
    const timeoutTimer = clock.setTimeout(() => {
      stop()
      req.pause()
      reject(new Problem('request_timeout', 'The request did not arrive in time. Send it again.'))
    }, timeout_ms)
    const stop = () => {
      timer?.cancel()
      timeoutTimer.cancel()
      req.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
      // A connection that breaks later must not raise an unhandled error.
      req.on('error', () => {})
    }
    if (announced_bytes > limits.body_bytes) timer = clock.setTimeout(refuse, discardLimits.ms)
    req.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose)
  })
}

/**
 * The allowed Host values. On a loopback bind only known names are allowed, because a page of another site could otherwise reach the
 * instance through a name that resolves here (DNS rebinding). On an open bind, an unknown name needs a bearer token.
 */
export function createHostRule(options: {
  bind: () => { host: string; port: number }
  hosts: () => readonly string[]
  /** Names and addresses of this machine on the local network while network access is open. */
  networkHosts: () => readonly string[]
}) {
  const isLoopback = (): boolean => {
    const { host } = options.bind()
    return host === 'localhost' || host === '::1' || host.startsWith('127.')
  }
  /** Whether other machines can reach this connection's listener. */
  const isOpen = (req: IncomingMessage): boolean => !isLoopback() || networkSockets.has(req.socket)

  return {
    isKnown(req: IncomingMessage): boolean {
      const host = req.headers.host ?? ''
      const { host: bound, port } = options.bind()
      const name = host.toLowerCase()
      const literal = bound.includes(':') ? `[${bound}]` : bound
      const ownHosts = ['localhost', '127.0.0.1', '[::1]', ...(isUnspecified(bound) ? [] : [literal])]
      if (ownHosts.some((known) => name === `${known}:${port}` || (port === 80 && name === known))) return true
      if (isOpen(req) && options.networkHosts().includes(name)) return true
      // A configured name without a port matches any port, because a proxy may use its own.
      return options.hosts().some((known) => name === known.toLowerCase() || name.replace(/:\d{1,5}$/, '') === known.toLowerCase())
    },
    isOpen,
  }
}

export type HostRule = ReturnType<typeof createHostRule>

const isUnspecified = (host: string) => host === '0.0.0.0' || host === '::'
