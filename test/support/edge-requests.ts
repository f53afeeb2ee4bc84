import { request } from 'node:http'

export interface EdgeAnswer {
  status: number
  text: string
}

/** A GET of a project at an edge, over a connection of its own. */
export const getAtEdge = (address: string, port: number, slug: string): Promise<EdgeAnswer> =>
  new Promise((resolve, reject) => {
    const outgoing = request({ host: address, port, agent: false, headers: { host: `${slug}.localhost` } }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      response.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end()
  })

/** GETs of these projects, one after the other from two clients each, until the work is done. Returns those that failed, and prints the rest. */
export async function findFailuresDuring(work: () => Promise<void>, slugs: readonly string[], get: (slug: string) => Promise<EdgeAnswer>) {
  const failures: string[] = []
  let isDone = false
  let sent = 0
  let slowest_ms = 0
  const clients = [...slugs, ...slugs].map(async (slug) => {
    while (!isDone) {
      const began = performance.now()
      const { status, text } = await get(slug).catch((error: unknown) => ({ status: 0, text: String(error) }))
      sent++
      slowest_ms = Math.max(slowest_ms, performance.now() - began)
      if (status !== 200) failures.push(`${slug} ${status} ${text.slice(0, 100)}`)
    }
  })
  await work().finally(() => (isDone = true))
  await Promise.all(clients)
  console.log(`${sent} requests through the edge of a node, slowest ${Math.round(slowest_ms)} ms`)
  if (sent <= 100) throw new Error(`Only ${sent} requests were sent.`)
  return failures
}
