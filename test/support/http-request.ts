import { request, type IncomingHttpHeaders } from 'node:http'

export interface TextResponse {
  status: number
  headers: IncomingHttpHeaders
  text: string
  json: Record<string, unknown>
}

/**
 * Sends a request with any Host header, which fetch does not allow, on a new connection. Forms are sent as forms, objects as JSON, bytes unchanged.
 */
export function sendRequest(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: URLSearchParams | Buffer | object } = {},
): Promise<TextResponse> {
  const [body, type] = encodeBody(options.body)
  return new Promise((resolve, reject) => {
    const clientRequest = request(
      url,
      { method: options.method ?? 'GET', agent: false, headers: { ...(type === undefined ? {} : { 'content-type': type }), ...options.headers } },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (piece: string) => (text += piece))
        response.on('error', reject)
        response.on('end', () => {
          const isJson = response.headers['content-type']?.startsWith('application/json') ?? false
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
          })
        })
      },
    )
    clientRequest.on('error', reject)
    clientRequest.end(body)
  })
}

function encodeBody(body: URLSearchParams | Buffer | object | undefined): [(string | Buffer)?, string?] {
  if (body === undefined) return []
  if (Buffer.isBuffer(body)) return [body]
  if (body instanceof URLSearchParams) return [body.toString(), 'application/x-www-form-urlencoded']
  return [JSON.stringify(body), 'application/json']
}
