import type { Caller } from '../../features/context.ts'
import { unauthorized } from '../authentication.ts'
import { textResponse } from '../response.ts'
import type { PublicRoute } from './public-route.ts'

/** The figures that a token may see, in the text format of Prometheus. */
export type MetricsScraper = (caller: Caller) => Promise<string>

/** `GET /metrics`. Every scope includes reading. Only a bearer token counts, so that no page can use the session of a browser. */
export function prometheusRoute(scrape: MetricsScraper): PublicRoute {
  return {
    path: '/metrics',
    rate_limit: true,
    async handle({ caller, headers }) {
      if (headers.authorization === undefined || caller?.via !== 'token') throw unauthorized()
      return textResponse(200, 'text/plain; version=0.0.4; charset=utf-8', await scrape(caller), { 'cache-control': 'no-store' })
    },
  }
}
