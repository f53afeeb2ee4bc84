import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import type { Clock, Timer } from '../lib/clock.ts'

/** Longest request target, and most header lines, that are read. */
export const maxUrlBytes = 8 * 1024
export const maxHeaders = 100

/** What is thrown away of a body that is too large, so that a client which writes first and reads later sees the answer. */
const discardLimits = { bytes: 4 * 1024 * 1024, ms: 1000 }

/** All values of a header as they came; Node's own record keeps the first of some and joins others. */
export function headerValues(req: IncomingMessage, name: string): string[] {
  const values: string[] = []
  for (let i = 0; i < req.rawHeaders.length; i += 2) {
    if (req.rawHeaders[i]?.toLowerCase() === name) values.push(req.rawHeaders[i + 1] ?? '')
  }
  return values
}

/** What Node's parser lets pass and we do not: old versions, absolute-form, several Hosts, odd framing. */
export function validateHttpRequest(req: IncomingMessage): void {
  const url = req.url ?? ''
  if (req.httpVersion !== '1.1') throw new Problem('bad_request', 'Speak HTTP/1.1.')
  if (url.length > maxUrlBytes) throw new Problem('uri_too_long', `The address is longer than ${maxUrlBytes} bytes. Send long values in the body.`)
  if (req.rawHeaders.length > maxHeaders * 2) throw new Problem('headers_too_large', `Send at most ${maxHeaders} headers.`)
  if (!url.startsWith('/') && !(url === '*' && req.method === 'OPTIONS'))
    throw new Problem('bad_request', 'Give the path alone in the request line, such as /v1/projects.')
  const hosts = headerValues(req, 'host')
  if (hosts.length !== 1) throw new Problem('bad_request', hosts.length === 0 ? 'The Host header is missing.' : 'Send exactly one Host header.')
  const coding = req.headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    throw new Problem('bad_request', 'The only transfer coding that is read is “chunked”.')
  if (req.headers.expect !== undefined && req.headers.expect.toLowerCase() !== '100-continue') {
    throw new Problem('expectation_failed', 'The only expectation that is met is “100-continue”.')
  }
}

/** Whether the request line and headers announce a body. */
export const hasBody = (req: IncomingMessage) => req.headers['transfer-encoding'] !== undefined || (req.headers['content-length'] ?? '0') !== '0'

/** Connections that came in by a further listener, on the network. */
const networkSockets = new WeakSet<Socket>()

export const markFromNetwork = (socket: Socket): void => void networkSockets.add(socket)

/** Whether a request was made on this machine: by its own loopback, and not through a proxy that stands on it. */
export function isLocal(req: IncomingMessage): boolean {
  const peer = req.socket.remoteAddress ?? ''
  const isLoopback = peer === '::1' || /^(::ffff:)?127\./i.test(peer)
  return isLoopback && !networkSockets.has(req.socket) && req.headers.forwarded === undefined && req.headers['x-forwarded-for'] === undefined
}

/** Reads the whole body, at most 1 MiB; past that it throws 413 and the connection has to close after the answer. */
export function readBody(
  req: IncomingMessage,
  res: ServerResponse,
  { clock, patience_ms: timeout_ms }: { clock: Clock; patience_ms: number },
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
 * Which names this instance answers to. On a loopback bind nothing but its own, or a page of another site could reach it by
 * a name that it points here (DNS rebinding); on an open bind an unknown name is served to holders of a token.
 */
export function createHostRule(options: {
  bind: () => { host: string; port: number }
  hosts: () => readonly string[]
  /** What this machine is called on the network while that is open. */
  networkHosts: () => readonly string[]
}) {
  const isLoopback = (): boolean => {
    const { host } = options.bind()
    return host === 'localhost' || host === '::1' || host.startsWith('127.')
  }
  /** Others can reach us by this connection. */
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
      // A configured name without a port stands for any: a proxy in front may use its own.
      return options.hosts().some((known) => name === known.toLowerCase() || name.replace(/:\d{1,5}$/, '') === known.toLowerCase())
    },
    isOpen,
  }
}

export type HostRule = ReturnType<typeof createHostRule>

const isUnspecified = (host: string) => host === '0.0.0.0' || host === '::'
