import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'

/** A host of git repositories over http: git's own server behind Node, with faults that a test selects. */
export interface GitServer {
  port: number
  url(name: string): string
  /** Requested paths, in order. */
  requested_paths: string[]
  close(): Promise<void>
}

export interface GitServerOptions {
  /** The folder of the repositories, which are reached by name. */
  root: string
  credentials?: { username: string; password: string }
  /** Handles selected requests instead of git; returns true if it did. */
  intercept?: (request: IncomingMessage, response: ServerResponse) => boolean
}

export async function startGitServer({ root, credentials, intercept }: GitServerOptions): Promise<GitServer> {
  const requestedPaths: string[] = []
  const expected = credentials && `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`
  return listenAsGitServer(requestedPaths, (request, response) => {
    requestedPaths.push(request.url ?? '')
    if (intercept?.(request, response)) return
    if (expected && request.headers.authorization !== expected) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end('the body of the page')
      return
    }
    runGitBackend(root, request, response)
  })
}

export async function listenAsGitServer(requested_paths: string[], listener: RequestListener): Promise<GitServer> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    port,
    requested_paths,
    url: (name) => `http://127.0.0.1:${port}/${name}`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** git http-backend is a CGI program, which receives a request's headers and body and writes those of the response. */
function runGitBackend(root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://host')
  const child = spawn('git', ['http-backend'], {
    env: {
      ...process.env,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      ...(request.headers['content-length'] ? { CONTENT_LENGTH: request.headers['content-length'] } : {}),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  request.pipe(child.stdin)
  child.stdin.on('error', () => {})
  let head = Buffer.alloc(0)
  child.stdout.on('data', function onData(bytes: Buffer) {
    head = Buffer.concat([head, bytes])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) return
    child.stdout.off('data', onData)
    const headers = Object.fromEntries(
      head
        .subarray(0, end)
        .toString()
        .split('\r\n')
        .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()] as const),
    )
    const { Status: status, ...rest } = headers
    response.writeHead(status ? Number.parseInt(status, 10) : 200, rest)
    response.write(head.subarray(end + 4))
    child.stdout.pipe(response)
  })
}
