import type { ApiResponse } from '../response.ts'
import type { IncomingHttpHeaders } from 'node:http'

export interface PublicRequest {
  query: URLSearchParams
  params: Record<string, string>
  headers: IncomingHttpHeaders
  /** All values of a header as they came. */
  headerValues(name: string): string[]
  body: Buffer
  is_head: boolean
  accepts_html: boolean
  /** A page or its script asks, in a browser that says so (Fetch Metadata). */
  is_browser: boolean
  /** It came from this machine itself and not over the network. */
  is_local: boolean
}

/** What is no operation of the record, and open to everyone. */
export interface PublicRoute {
  /** GET when absent. */
  method?: 'POST'
  path: string
  /** Whether a visit counts towards the rate limit; of whom, or always of the peer's address. */
  rate_limit: boolean | 'by_address'
  handle(request: PublicRequest): Promise<ApiResponse>
}
