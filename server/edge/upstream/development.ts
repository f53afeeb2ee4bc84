import type { DevelopmentRoute } from '../edge.ts'
import type { ResponseHandler } from './exchange.ts'
import type { Upstream } from './pool.ts'
import type { ResponseHead } from './response-head.ts'

/**
 * The upstream of a development server. Most of them accept only known hosts (Vite: `allowedHosts`, Django: `ALLOWED_HOSTS`, webpack:
 * `allowedHosts`), and all of them know `localhost`. The client's host name stays in X-Forwarded-Host.
 */
export function createDevelopmentUpstream(upstream: Upstream, { port, host_header }: DevelopmentRoute): Upstream {
  return {
    ...upstream,
    createExchange(handler, request) {
      const site = readSite(request.head)
      const head = host_header === 'localhost' && site ? addressLocally(request.head, site, port) : request.head
      return upstream.createExchange(site ? new DevelopmentResponse(handler, site, port) : handler, { ...request, head })
    },
  }
}

/** The scheme, host and port under which the client reaches the server. */
interface PublicSite {
  proto: string
  host: string
}

function readSite(head: string): PublicSite | undefined {
  const proto = /^x-forwarded-proto: (https?)\r$/im.exec(head)?.[1]
  const host = /^x-forwarded-host: (.*)\r$/im.exec(head)?.[1]
  return proto === undefined || host === undefined ? undefined : { proto, host }
}

/**
 * The Origin of another site stays, so that the server can reject it. The Origin of this site becomes the server's own, because Django and SvelteKit
 * compare it with Host before they accept a form.
 */
const addressLocally = (head: string, { proto, host }: PublicSite, port: number): string =>
  head
    .replace(/^host:.*\r$/im, `Host: localhost:${port}\r`)
    .replace(/^origin: *(.*)\r$/im, (line, origin: string) => (origin === `${proto}://${host}` ? `Origin: http://localhost:${port}\r` : line))

/** Turns redirects to the server's own address into redirects to the public one, and keeps responses without cache rules out of browser caches. */
class DevelopmentResponse implements ResponseHandler {
  readonly wantsRawChunks: boolean
  readonly #handler: ResponseHandler
  readonly #site: PublicSite
  readonly #port: number

  constructor(handler: ResponseHandler, site: PublicSite, port: number) {
    this.wantsRawChunks = handler.wantsRawChunks
    this.#handler = handler
    this.#site = site
    this.#port = port
  }

  onHead(head: ResponseHead): void {
    const { proto, host } = this.#site
    let lines = head.lines.replace(
      /^(location: *)http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]):(\d+)(?=[/?#\r])/im,
      (line, name: string, port: string) => (Number(port) === this.#port ? `${name}${proto}://${host}` : line),
    )
    // A moment later the production build may serve the same URL.
    if (head.status !== 101 && !/^cache-control:/im.test(lines)) lines += 'Cache-Control: no-store\r\n'
    this.#handler.onHead({ ...head, lines })
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
