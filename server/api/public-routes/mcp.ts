import { Problem } from '../../contract/errors.ts'
import { isOwnOrigin, unauthorized } from '../authentication.ts'
import { textResponse } from '../response.ts'
import type { PublicRoute } from './public-route.ts'

/** Answers a message of the Model Context Protocol with the operations that the token may call. */
export type McpEndpoint = (request: { authorization: string; headers: Record<string, string>; body: unknown }) => Promise<Response>

/**
 * `POST /mcp`: MCP over streamable HTTP, without sessions. Only a bearer token counts, so that no page can use the session of a browser; a page of
 * another origin is refused all the same, also one that points its own name at this machine (the Host is checked before).
 */
export function mcpRoute(answer: McpEndpoint): PublicRoute {
  return {
    method: 'POST',
    path: '/mcp',
    rate_limit: true,
    async handle({ caller, headers, body }) {
      const { authorization, origin, host } = headers
      if (authorization === undefined || caller?.via !== 'token') throw unauthorized()
      if (origin !== undefined && !isOwnOrigin(origin, host))
        throw new Problem('origin_not_allowed', 'This request came from another site. Add this address to your agent instead.')
      const response = await answer({ authorization, headers: readMcpHeaders(headers), body: parseMessage(body) })
      const type = response.headers.get('content-type')
      const text = await response.text()
      return type === null ? { status: response.status, headers: {}, body: text } : textResponse(response.status, type, text)
    },
  }
}

const forwardedHeaders = ['accept', 'content-type', 'mcp-protocol-version'] as const

const readMcpHeaders = (headers: Record<string, string | string[] | undefined>): Record<string, string> =>
  Object.fromEntries(forwardedHeaders.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])))

function parseMessage(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw new Problem('invalid_json', 'The body is not valid JSON.', { cause })
  }
}
