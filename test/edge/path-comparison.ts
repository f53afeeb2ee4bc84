import { connect } from 'node:net'
import type { Server } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSeededRandom, type SeededRandom } from '../support/seeded-random.ts'
import { get, startApp, startEdge, type ListeningServer, type TestEdge } from '../support/edge.ts'

const host = 'Host: app.localhost\r\n'
const seeds = [
  `GET /a?b=c HTTP/1.1\r\n${host}Accept: */*\r\nConnection: keep-alive\r\n\r\n`,
  `POST /a HTTP/1.1\r\n${host}Content-Length: 5\r\nContent-Type: text/plain\r\n\r\nhello`,
  `POST /a HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  `GET /a HTTP/1.1\r\n${host}X-Forwarded-For: 1.2.3.4\r\nCookie: a=b; c=d\r\n\r\nGET /b HTTP/1.1\r\n${host}\r\n`,
  `PUT /a HTTP/1.1\r\n${host}Content-Length: 3\r\n\r\nabcDELETE /b HTTP/1.1\r\n${host}\r\n`,
]
const pieces = [
  '\r\n',
  '\n',
  '\r',
  ' ',
  '\t',
  ':',
  '\0',
  '\x7f',
  '\xff',
  ';',
  ',',
  '/',
  '#',
  '\\',
  '0',
  '5',
  'a',
  'Content-Length: 3\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Connection: close\r\n',
  'Connection: keep-alive, X-A\r\n',
  'Host: b\r\n',
  'Expect: 100-continue\r\n',
  'Upgrade: websocket\r\n',
  ' HTTP/1.1',
  'x'.repeat(300),
]

function mutate(seededRandom: SeededRandom): string {
  let text = seededRandom.pick(seeds)
  for (let edits = seededRandom.between(1, 3); edits > 0; edits--) {
    const at = seededRandom.between(0, Math.max(0, text.length - 1))
    const kind = seededRandom.between(0, 2)
    if (kind === 0) text = text.slice(0, at) + seededRandom.pick(pieces) + text.slice(at)
    else if (kind === 1) text = text.slice(0, at) + text.slice(at + seededRandom.between(1, 4))
    else text = text.slice(0, at) + String.fromCharCode(seededRandom.between(0, 255)) + text.slice(at + 1)
  }
  return text
}

/** Both request paths treat a request the same: mutated requests on both, and past differences. */
export function comparePaths(options: { count: number; seed: number; replay: string[]; onFailure?: (request: string) => void }): void {
  const { count, seed, replay, onFailure } = options
  const edges: TestEdge[] = []
  let app: ListeningServer<Server>
  const seen = new Map<string, string[]>()

  beforeAll(async () => {
    app = await startApp((req, response) => {
      let body = ''
      req.on('error', () => {})
      req.on('data', (part: Buffer) => (body += part.toString('latin1')))
      req.on('end', () => {
        const way = String(req.headers['x-forwarded-port'] ?? '')
        const names = req.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase())
        const kept = names.filter((name) => name !== 'connection' && name !== 'transfer-encoding')
        // A mutated length can make the next request, with its tag, a part of the body.
        const untagged = body.replace(/app\.localhost:\d+\r/g, 'app.localhost\r')
        seen.set(way, [...(seen.get(way) ?? []), `${req.method} ${req.url} ${untagged} ${kept.toSorted().join()}`])
        response.end('fine')
      })
    })
    for (const fast_path of [true, false]) {
      const edge = await startEdge({ fast_path })
      await edge.routeToPort(app.port)
      edges.push(edge)
    }
  })
  afterAll(async () => {
    for (const edge of edges) await edge.close()
    await app.close()
  })

  /** Writes everything, half-closes, and returns the response statuses. */
  const send = (port: number, text: string): Promise<string[]> =>
    new Promise((resolve) => {
      const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
      let got = ''
      socket.on('data', (part) => (got += part.toString('latin1')))
      socket.on('error', () => {})
      socket.on('close', () => resolve([...got.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map((match) => match[1] ?? '')))
      socket.end(Buffer.from(text, 'latin1'))
    })

  /** The port in Host distinguishes the app's records of the two; no response depends on it. */
  const tagged = (text: string, port: number) => text.replaceAll('app.localhost\r', `app.localhost:${port}\r`)

  /** All at once on both paths. Complete requests are answered before the clock advances, which then ends only those that wait for more. */
  async function compare(texts: string[]): Promise<void> {
    seen.clear()
    const answers = texts.map((text, i) => edges.map(({ port }, way) => send(port, tagged(text, 10_000 + 2 * i + way))))
    for (let i = 0; i < 3; i++) for (const { port } of edges) await get(port, '/')
    await Promise.all(edges.map((edge, way) => edge.advanceUntilDone(Promise.all(answers.map(async (both) => both[way])))))
    for (const [i, text] of texts.entries()) {
      const [plain = [], ordinary = []] = await Promise.all(answers[i] ?? [])
      const [seenPlain, seenOrdinary] = [seen.get(String(10_000 + 2 * i)) ?? [], seen.get(String(10_001 + 2 * i)) ?? []]
      try {
        // Pipelined before a FIN, an unusual request may be dropped on the fast path, but is never treated differently.
        expect({ text, seen: seenPlain }).toEqual({ text, seen: seenOrdinary.slice(0, seenPlain.length) })
        expect({ text, any: seenPlain.length > 0 }).toEqual({ text, any: seenOrdinary.length > 0 })
        // A request that ends too early may be refused or dropped.
        if (plain.length > 0 && ordinary.length > 0) expect({ text, first: plain[0] }).toEqual({ text, first: ordinary[0] })
        for (const status of [...plain, ...ordinary]) expect({ text, server: Number(status) >= 500 }).toEqual({ text, server: false })
      } catch (error) {
        if (!replay.includes(text)) onFailure?.(text)
        throw error
      }
    }
  }

  test('past failures get the same result on both paths', () => compare(replay))

  // In parts, each with its own test timeout.
  for (let from = 0; from < count; from += 1_000) {
    const size = Math.min(1_000, count - from)
    test(`${size} mutated requests get the same result on both paths, seed ${seed + from}`, async () => {
      const seededRandom = createSeededRandom(seed + from)
      for (let done = 0; done < size; done += 100) await compare(Array.from({ length: 100 }, () => mutate(seededRandom)))
    })
  }
}
