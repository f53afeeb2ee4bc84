import type { ResponseHandler } from './exchange.ts'
import { mapResponseHead } from './map-response-head.ts'

const cookieName = 'homeport_replica'

/** The replica that a request's cookie names. */
export const findStickyReplica = (head: string): string | undefined => /^cookie:.*?\bhomeport_replica=([0-9a-f]{16})(?![^;\s])/im.exec(head)?.[1]

/** Adds the cookie of a replica to a response. It ends with the browser's session and is not for scripts. */
export const setStickyCookie = (handler: ResponseHandler, value: string): ResponseHandler =>
  mapResponseHead(handler, (head) => ({ ...head, lines: `${head.lines}Set-Cookie: ${cookieName}=${value}; Path=/; HttpOnly; SameSite=Lax\r\n` }))
