import { request, type IncomingHttpHeaders } from 'node:http'

export interface Asked {
  status: number
  headers: IncomingHttpHeaders
  text: string
  json: Record<string, unknown>
}

/**
 * A request by whatever Host one likes, which fetch does not let one choose, on a connection of its own. A form goes as a form,
 * an object as JSON, bytes as they are.
 */
export function ask(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: URLSearchParams | Buffer | object } = {},
): Promise<Asked> {
  const [body, type] = encoded(options.body)
  return new Promise((resolve, reject) => {
    const asking = request(
      url,
      { method: options.method ?? 'GET', agent: false, headers: { ...(type === undefined ? {} : { 'content-type': type }), ...options.headers } },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (piece: string) => (text += piece))
        answer.on('error', reject)
        answer.on('end', () => {
          const isJson = answer.headers['content-type']?.startsWith('application/json') ?? false
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            text,
            json: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
          })
        })
      },
    )
    asking.on('error', reject)
    asking.end(body)
  })
}

function encoded(body: URLSearchParams | Buffer | object | undefined): [(string | Buffer)?, string?] {
  if (body === undefined) return []
  if (Buffer.isBuffer(body)) return [body]
  if (body instanceof URLSearchParams) return [body.toString(), 'application/x-www-form-urlencoded']
  return [JSON.stringify(body), 'application/json']
}
