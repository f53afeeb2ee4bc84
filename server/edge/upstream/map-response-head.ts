import type { ResponseHandler } from './exchange.ts'
import type { ResponseHead } from './response-head.ts'

/** A handler that receives each response with the head that `map` returns for it. Interim responses stay as they are. */
export const mapResponseHead = (handler: ResponseHandler, map: (head: ResponseHead) => ResponseHead): ResponseHandler =>
  new MappedResponse(handler, map)

class MappedResponse implements ResponseHandler {
  readonly wantsRawChunks: boolean
  readonly #handler: ResponseHandler
  readonly #map: (head: ResponseHead) => ResponseHead

  constructor(handler: ResponseHandler, map: (head: ResponseHead) => ResponseHead) {
    this.wantsRawChunks = handler.wantsRawChunks
    this.#handler = handler
    this.#map = map
  }

  onHead = (head: ResponseHead): void => this.#handler.onHead(this.#map(head))
  onRequestSent = (replica: number | null): void => this.#handler.onRequestSent(replica)
  onDrain = (): void => this.#handler.onDrain()
  onContinue = (): void => this.#handler.onContinue()
  onInterim = (head: ResponseHead): void => this.#handler.onInterim(head)
  flushHead = (): void => this.#handler.flushHead()
  onData = (...part: Parameters<ResponseHandler['onData']>): boolean => this.#handler.onData(...part)
  onEnd = (trailers: string): void => this.#handler.onEnd(trailers)
  onError = (failure: Parameters<ResponseHandler['onError']>[0]): void => this.#handler.onError(failure)
}
