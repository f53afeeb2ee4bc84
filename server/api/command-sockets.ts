import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { commandProtocol, maxFrame_bytes, ticketProtocolPrefix } from '../contract/command-frames.ts'
import { Problem } from '../contract/errors.ts'
import type { ClaimedCommand } from '../features/command-tickets.ts'
import type { Caller } from '../features/context.ts'
import type { Log } from '../lib/log.ts'
import { isOwnOrigin } from './authentication.ts'
import { type HostRule, validateHttpRequest } from './http-request.ts'
import { misdirectedRequest } from './middleware.ts'
import { addressKey, type RateLimit } from './rate-limit.ts'
import { serveCommand } from './serve-command.ts'
import type { StreamAccess, Streams } from './sse.ts'

export interface CommandSocketOptions {
  claimCommand(ticket: string): ClaimedCommand | undefined
  createAccess(caller: Caller, project: { id: string; slug: string }): StreamAccess
  hostRule: HostRule
  rateLimit: RateLimit
  streams: Streams
  log: Log
}

/** Accepts the WebSocket of a one-off command. Throws a `Problem` before the upgrade. */
export type AcceptCommandSocket = (req: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>

/**
 * WebSockets of one-off commands. A WebSocket is not subject to the same-origin policy, so the ticket is its only credential: it comes from an operation
 * that only the caller can call, is valid once, and travels as a subprotocol, which is in no URL.
 */
export function createCommandSockets(options: CommandSocketOptions): AcceptCommandSocket {
  const { hostRule, rateLimit, claimCommand } = options
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxFrame_bytes + 1,
    handleProtocols: () => commandProtocol,
  })

  const countFailure = (req: IncomingMessage): void => {
    const state = rateLimit.count(addressKey(req.socket.remoteAddress))
    if (!state.allowed) throw new Problem('rate_limited', `Too many requests. Try again in ${state.retry_after_s} s.`, state)
  }

  return async function acceptCommandSocket(req, socket, head) {
    validateHttpRequest(req)
    const isKnownHost = hostRule.isKnown(req)
    if (!isKnownHost && !hostRule.isOpen(req)) throw misdirectedRequest()
    const { origin } = req.headers
    if (origin !== undefined && !isOwnOrigin(origin, req.headers.host))
      throw new Problem('origin_not_allowed', 'This WebSocket was opened by another site. Use the dashboard of this instance.')
    const protocols = (req.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim())
    const ticket = protocols.find((name) => name.startsWith(ticketProtocolPrefix))?.slice(ticketProtocolPrefix.length)
    const command = ticket === undefined ? undefined : claimCommand(ticket)
    if (!command) {
      countFailure(req)
      throw new Problem('unauthorized', 'The ticket of this command is unknown, expired or used. Start the command again.')
    }
    let accepted: WebSocket | undefined
    try {
      const access = options.createAccess(command.caller, command.project)
      if (!protocols.includes(commandProtocol)) throw new Problem('bad_request', `Only the subprotocol ${commandProtocol} is supported.`)
      if (!isKnownHost && command.caller.via !== 'token') throw misdirectedRequest()
      if (!(await access.isGranted())) throw new Problem('unauthorized', 'The credentials that created this ticket are no longer valid.')
      accepted = await new Promise<WebSocket>((resolve, reject) => {
        socket.once('close', () => reject(new Problem('bad_request', 'The client disconnected.')))
        server.handleUpgrade(req, socket, head, resolve)
      })
      await serveCommand(accepted, command, { ...options, access })
    } catch (error) {
      if (!accepted) throw error
      options.log.error('command_failed', { error })
      accepted.terminate()
    } finally {
      command.release()
    }
  }
}
