import { request, type IncomingHttpHeaders } from 'node:http'

export interface Asked {
  status: number
  headers: IncomingHttpHeaders
  text: string
  json: Record<string, unknown>
}

/** A request by whatever Host one likes, which fetch does not let one choose. A form goes as a form, an object as JSON. */
export function ask(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: URLSearchParams | object } = {},
): Promise<Asked> {
  const isForm = options.body instanceof URLSearchParams
  const body = options.body === undefined ? undefined : isForm ? String(options.body) : JSON.stringify(options.body)
  const type = body === undefined ? {} : { 'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json' }
  return new Promise((resolve, reject) => {
    const asking = request(url, { method: options.method ?? 'GET', agent: false, headers: { ...type, ...options.headers } }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (piece: string) => (text += piece))
      answer.on('error', reject)
      answer.on('end', () => {
        const isJson = answer.headers['content-type']?.startsWith('application/json') ?? false
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text, json: isJson ? (JSON.parse(text) as Record<string, unknown>) : {} })
      })
    })
    asking.on('error', reject)
    asking.end(body)
  })
}
