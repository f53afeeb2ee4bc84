import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { EdgeOptions } from '../../server/edge/server.ts'
import { get, routeOwner, startApp, startEdge, type HttpResponse, type TestEdge } from './edge.ts'
import { createTestClock } from './test-clock.ts'
import { until } from './until.ts'

/** An edge with a cache in front of an app, and a clock that can be advanced. */
export interface CachedEdge {
  edge: TestEdge
  /** Requests that the app received, by method and target. */
  requests: string[]
  /** Their headers, in the same order. */
  headers: IncomingMessage['headers'][]
  /** The app's request handler. */
  app: (request: IncomingMessage, response: ServerResponse) => void
  request(path: string, headers?: Record<string, string>, method?: string): Promise<HttpResponse>
  /** `MISS 1`: the cache result and the body. */
  getStatusAndBody(path: string, headers?: Record<string, string>): Promise<string>
  advanceSeconds(seconds: number): void
  /** Makes the app hold requests. The returned function waits for a number of them and returns their responses. */
  holdRequests(): (count: number) => Promise<ServerResponse[]>
  port: number
}

export async function startCachedEdge(
  options: Partial<EdgeOptions> & { directory?: string | null; memory_bytes?: number; disk_bytes?: number } = {},
): Promise<CachedEdge> {
  // The wall clock only moves with `pass`, so that ages are exact on a slow machine.
  let now = Date.now()
  const app = await startApp((request, response) => {
    cached.requests.push(`${request.method} ${request.url}`)
    cached.headers.push(request.headers)
    // The edge adds the Date header, by the test clock.
    response.sendDate = false
    cached.app(request, response)
  })
  const edge = await startEdge({
    ...options,
    clock: { ...createTestClock(), now: () => now },
    cache: {
      directory: options.directory ?? null,
      memory_bytes: () => options.memory_bytes ?? 64 * 2 ** 20,
      disk_bytes: () => options.disk_bytes ?? 64 * 2 ** 20,
    },
  })
  await edge.routeToPort(app.port)
  onTestFinished(async () => {
    await edge.close()
    await app.close()
  })
  const cached: CachedEdge = {
    edge,
    requests: [],
    headers: [],
    app: (_request, response) => void response.end(),
    request: (path, headers = {}, method = 'GET') => get(edge.port, path, { headers, method }),
    async getStatusAndBody(path, headers) {
      const got = await cached.request(path, headers)
      return `${String(got.headers['x-cache'])} ${got.text}`
    },
    advanceSeconds: (seconds) => void (now += seconds * 1000),
    holdRequests() {
      const held: ServerResponse[] = []
      cached.app = (_request, response) => void held.push(response)
      return (count) => until(() => (held.length >= count ? held : undefined), { what: `${count} requests at the app` })
    },
    port: app.port,
  }
  return cached
}

/** An app that counts its responses. */
export function countingHandler(headers: Record<string, string | string[]>, status = 200): CachedEdge['app'] {
  let count = 0
  return (_request, response) => response.writeHead(status, headers).end(String(++count))
}

/** A folder that is removed after the test. */
export function createCacheFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-cache-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export const projectId = routeOwner.project_id
