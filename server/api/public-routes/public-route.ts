import type { ApiResponse } from '../response.ts'
import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '../../features/context.ts'

export interface PublicRequest {
  /** Who is signed in, if anybody. */
  caller: Caller | undefined
  query: URLSearchParams
  params: Record<string, string>
  headers: IncomingHttpHeaders
  /** All values of a header, as received. */
  headerValues(name: string): string[]
  body: Buffer
  is_head: boolean
  accepts_html: boolean
  /** The request comes from a page or its script, in a browser that sends Fetch Metadata. */
  is_browser: boolean
  /** The request comes from this machine and not over the network. */
  is_local: boolean
}

/** A route that is not an operation of the contract, and is open to everyone. */
export interface PublicRoute {
  /** GET when absent. */
  method?: 'POST'
  path: string
  /** Whether a request counts towards the rate limit: that of the caller, or always that of the peer's address. */
  rate_limit: boolean | 'by_address'
  handle(request: PublicRequest): Promise<ApiResponse>
}
