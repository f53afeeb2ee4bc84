import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { ApiError } from '../client/api-error.ts'
import { createOperationClient } from '../client/client.ts'
import { version } from '../contract/index.ts'
import { operationRoutes } from '../contract/routes.ts'
import { createMcpServer } from './mcp-server.ts'
import type { ToolClient } from './tool-client.ts'

export interface McpRequest {
  /** The header with the token of the agent. */
  authorization: string
  /** `Accept`, `Content-Type` and `MCP-Protocol-Version`. */
  headers: Record<string, string>
  body: unknown
}

/**
 * Handles one message of an MCP client. It is stateless: each message is authenticated, so a revoked token is rejected at the next message. `api_url` is the address of this instance, which a tool calls like any other client.
 */
export async function answerMcpRequest(api_url: string, { authorization, headers, body }: McpRequest): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  const server = createMcpServer(createToolClient(api_url, authorization))
  await server.connect(transport)
  try {
    const response = await transport.handleRequest(new Request(`${api_url}/mcp`, { method: 'POST', headers }), { parsedBody: body })
    return new Response(await response.text(), response)
  } finally {
    await server.close()
  }
}

function createToolClient(api_url: string, authorization: string): ToolClient {
  const client = createOperationClient({
    routes: operationRoutes,
    send({ method, path, headers, body, signal = null }) {
      const init: RequestInit = { method, redirect: 'error', headers: { ...headers, authorization, 'user-agent': `homeport-mcp/${version}` }, signal }
      // No tool uploads a file.
      if (typeof body === 'string') init.body = body
      return fetch(api_url + path, init)
    },
    toUnreachable: (cause) => new ApiError('unreachable', 'Homeport did not respond. Try again.', { cause }),
  })
  return {
    call: (id, input) => client.call(id, input),
    async download(id, input, signal) {
      const { body } = await client.open(id, { ...input, signal })
      if (!body) throw new ApiError('bad_answer', 'The instance responded without a file.')
      return body
    },
  }
}
