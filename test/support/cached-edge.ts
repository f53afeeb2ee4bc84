import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { EdgeOptions } from '../../server/edge/server.ts'
import { get, routeOwner, startApp, startEdge, type HttpResponse, type TestEdge } from './edge.ts'
import { createTestClock } from './test-clock.ts'
import { until } from './until.ts'

/** An edge with a cache in front of an app, and a clock that can be put forward. */
export interface CachedEdge {
  edge: TestEdge
  /** Requests that the app saw, by method and target. */
  requests: string[]
  /** Their headers, in the same order. */
  headers: IncomingMessage['headers'][]
  /** What the app does from now on. */
  app: (request: IncomingMessage, response: ServerResponse) => void
  request(path: string, headers?: Record<string, string>, method?: string): Promise<HttpResponse>
  /** `MISS 1`: what the cache says, and the body. */
  getStatusAndBody(path: string, headers?: Record<string, string>): Promise<string>
  advanceSeconds(seconds: number): void
  /** From now on the app holds requests; what is returned waits for so many of them and gives their responses. */
  holdRequests(): (count: number) => Promise<ServerResponse[]>
  port: number
}

export async function startCachedEdge(
  options: Partial<EdgeOptions> & { directory?: string | null; memory_bytes?: number; disk_bytes?: number } = {},
): Promise<CachedEdge> {
  // The wall clock stands still but for `pass`: an age is what the test made it, however long the machine takes.
  let now = Date.now()
  const app = await startApp((request, response) => {
    cached.requests.push(`${request.method} ${request.url}`)
    cached.headers.push(request.headers)
    // The edge dates it, by the clock of the test.
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

/** An app that counts its answers. */
export function countingHandler(headers: Record<string, string | string[]>, status = 200): CachedEdge['app'] {
  let count = 0
  return (_request, response) => response.writeHead(status, headers).end(String(++count))
}

/** A folder that goes with the test. */
export function createCacheFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-cache-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export const projectId = routeOwner.project_id
