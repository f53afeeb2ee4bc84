import type { ResponseHandler } from './exchange.ts'
import type { ResponseHead } from './response-head.ts'

const cookieName = 'homeport_replica'

/** The replica that a request's cookie names. */
export const findStickyReplica = (head: string): string | undefined => /^cookie:.*?\bhomeport_replica=([0-9a-f]{16})(?![^;\s])/im.exec(head)?.[1]

/** Adds the cookie of a replica to a response. It ends with the browser's session and is not for scripts. */
export const setStickyCookie = (handler: ResponseHandler, value: string): ResponseHandler => new StickyResponse(handler, value)

class StickyResponse implements ResponseHandler {
  readonly wantsRawChunks: boolean
  readonly #handler: ResponseHandler
  readonly #value: string

  constructor(handler: ResponseHandler, value: string) {
    this.wantsRawChunks = handler.wantsRawChunks
    this.#handler = handler
    this.#value = value
  }

  onHead(head: ResponseHead): void {
    this.#handler.onHead({ ...head, lines: `${head.lines}Set-Cookie: ${cookieName}=${this.#value}; Path=/; HttpOnly; SameSite=Lax\r\n` })
  }

  onRequestSent = (replica: number | null): void => this.#handler.onRequestSent(replica)
  onDrain = (): void => this.#handler.onDrain()
  onContinue = (): void => this.#handler.onContinue()
  onInterim = (head: ResponseHead): void => this.#handler.onInterim(head)
  flushHead = (): void => this.#handler.flushHead()
  onData = (...part: Parameters<ResponseHandler['onData']>): boolean => this.#handler.onData(...part)
  onEnd = (trailers: string): void => this.#handler.onEnd(trailers)
  onError = (failure: Parameters<ResponseHandler['onError']>[0]): void => this.#handler.onError(failure)
}
