import { type ClientRequest, request } from 'node:http'

/** Opens requests for `/hold` that stay open; returns a function that closes them. */
export function holdRequests(edgeUrl: string, host: string, count: number): () => void {
  const { port } = new URL(edgeUrl)
  const requests = Array.from({ length: count }, (): ClientRequest => {
    const held = request({ port, path: '/hold', headers: { host }, agent: false })
    held.on('error', () => {})
    held.end()
    return held
  })
  return () => {
    for (const held of requests) held.destroy()
  }
}
