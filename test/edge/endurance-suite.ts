import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSeededRandom, waitEventLoopTurns, type SeededRandom } from '../support/seeded-random.ts'
import { edgePaths, startEdge, type TestEdge } from '../support/edge.ts'
import { bodyOf, startFaultApp, type Fault } from '../support/fault-app.ts'
import { until } from '../support/until.ts'
import { RawHttpClient, type RawHttpResponse } from '../support/raw-http-client.ts'
import { isFullTier } from '../support/tier.ts'

/** What the client must receive. `cut`: a visibly truncated response, or an error page if nothing had been sent yet. */
type Outcome = 504 | 502 | 'cut' | 'right'
const outcomes: Partial<Record<Fault, Outcome>> = {
  'hangs before its head': 504,
  'hangs in its head': 504,
  'closes before its head': 502,
  'resets before its head': 502,
  'resets in its head': 502,
  'sends garbage': 502,
  'sends two lengths': 502,
  'resets in its body': 'cut',
  'says more than it sends': 'cut',
  'ends its chunks too soon': 'cut',
  'ends its chunks without the last line': 'cut',
  'breaks its chunks': 'cut',
  'resets a body without a length': 'cut',
  'sends more than it says': 'right',
  'closes at random': 'right',
}

/** By default each path with one setting of the cache. */
const edgeVariants = edgePaths.flatMap((path) =>
  (isFullTier ? [true, false] : [path.fast_path]).map((caching) => ({ ...path, caching, name: `${path.name}, cache ${caching ? 'on' : 'off'}` })),
)

/** Each fault happens `times` times on each request path of the edge; in the end nothing is left open. */
export function enduranceSuite(times: number, seed: number): void {
  const seededRandom = createSeededRandom(seed)
  describe.each(edgeVariants)(`${times} times each, seed ${seed}, $name`, ({ fast_path, caching }) => {
    let edge: TestEdge
    let app: Awaited<ReturnType<typeof startFaultApp>>
    let base: { sockets: number; files: number }
    const directory = mkdtempSync(join(tmpdir(), 'homeport-faults-'))
    const mistakes: string[] = []

    beforeAll(async () => {
      app = await startFaultApp()
      // Little memory: entries move to the disk and back all the time.
      const cache = { directory, memory_bytes: () => 2 * 2 ** 20, disk_bytes: () => 64 * 2 ** 20 }
      edge = await startEdge({ fast_path, ...(caching ? { cache } : {}) })
      await edge.routeToPort(app.port)
      base = openFiles()
    })
    afterAll(async () => {
      await edge.close()
      await app.close()
      rmSync(directory, { recursive: true, force: true })
    })

    const client = (to = edge): RawHttpClient => new RawHttpClient(to.port)
    const ask = (on: RawHttpClient, target: string, more = '', method = 'GET', body = ''): Promise<RawHttpResponse> =>
      on.request(`${method} ${target} HTTP/1.1\r\nHost: app.localhost\r\n${more}${body ? `Content-Length: ${body.length}\r\n` : ''}X-Lane: 1`, body)

    const mistake = (target: string, what: string, response: RawHttpResponse): void => {
      mistakes.push(
        `${target}: ${what}, got ${response.status} ${response.whole ? 'whole' : 'cut'} ${response.body.length} bytes: ${response.body.toString('latin1', 0, 80)}`,
      )
    }
    const check = (target: string, outcome: Outcome, response: RawHttpResponse): void => {
      const body = bodyOf(target)
      if (outcome === 'right') {
        if (response.status !== 200 || !response.whole || !response.body.equals(body))
          mistake(target, `not the right answer of ${body.length} bytes`, response)
      } else if (outcome === 'cut') {
        const isPage = response.status === 502 && response.whole
        if (!isPage && (response.whole || !isStartOf(body, response))) mistake(target, 'not cut', response)
      } else if (response.status !== outcome || !response.whole || !response.body.includes(response.headers.get('x-request-id') ?? 'no id'))
        mistake(target, `not a page with ${outcome}`, response)
    }

    /** The same without a fault. */
    const checkAgain = (target: string, outcome: Outcome, response: RawHttpResponse): void => {
      check(target, 'right', response)
      if (caching && outcome !== 'right' && response.headers.get('x-cache') === 'HIT') mistake(target, 'a fault was stored', response)
    }

    /** `times` rounds on a number of lanes; each lane keeps its connection as long as the edge does. */
    const rounds = async (lanes: number, round: (n: number, lane: { wire: RawHttpClient }) => Promise<void>): Promise<void> => {
      let n = 0
      const run = async (): Promise<void> => {
        const lane = { wire: client() }
        while (n < times) {
          if (lane.wire.closed) lane.wire = client()
          await round(n++, lane)
          if (lane.wire.unexpected_bytes !== '') mistakes.push(`bytes that nobody asked for: ${lane.wire.unexpected_bytes.slice(0, 80)}`)
        }
        lane.wire.destroy()
      }
      await Promise.all(Array.from({ length: Math.min(lanes, Math.ceil(times / 3)) }, run))
      expect(mistakes.splice(0).slice(0, 5)).toEqual([])
    }

    /** `times` requests that only a timeout ends, a hundred at a time, so that they are in flight together while the clock advances. */
    const batches = async (batch: (numbers: number[]) => Promise<void>): Promise<void> => {
      for (let from = 0; from < times; from += 100) await batch(Array.from({ length: Math.min(100, times - from) }, (_, i) => from + i))
      expect(mistakes.splice(0).slice(0, 5)).toEqual([])
    }

    describe('a failing app', () => {
      const entries = Object.entries(outcomes) as [Fault, Outcome][]

      test.each(entries.filter(([, outcome]) => outcome === 504))('%s: %s', async (fault) => {
        await batches(async (numbers) => {
          const targets = numbers.map((n) => `/${fault.replaceAll(' ', '-')}/${n}`)
          // Some are requested several times at once: they may share one request to the app, and its fault.
          const requests = targets.flatMap((target) => Array.from({ length: seededRandom.chance(0.1) ? 3 : 1 }, () => ({ target, on: client() })))
          const answers = requests.map(({ target, on }) => ask(on, target, `X-Fault: ${fault}\r\n`))
          await until(() => targets.every((target) => app.hung.has(target)) || undefined, { what: 'all requests at the app' })
          for (const [i, response] of (await edge.advanceUntilDone(Promise.all(answers))).entries()) check(requests[i]?.target ?? '', 504, response)
          for (const { on } of requests) on.destroy()
          const on = client()
          for (const target of targets) checkAgain(target, 504, await ask(on, target))
          on.destroy()
        })
      })

      test.each(entries.filter(([, outcome]) => outcome !== 504))('%s: %s', async (fault, outcome) => {
        await rounds(50, async (n, lane) => {
          const target = `/${fault.replaceAll(' ', '-')}/${n}`
          const others = seededRandom.chance(0.1) ? [client(), client()] : []
          const answers = await Promise.all([lane.wire, ...others].map((one) => ask(one, target, `X-Fault: ${fault}\r\n`)))
          for (const response of answers) check(target, outcome, response)
          for (const other of others) other.destroy()
          if (lane.wire.closed) lane.wire = client()
          checkAgain(target, outcome, await ask(lane.wire, target))
        })
      })
    })

    describe('a failing client', () => {
      test('aborts', async () => {
        await rounds(100, async (n, lane) => {
          const target = `/aborts/${n}`
          // An endless response has its own URL, because requests that arrive before the edge notices the disconnect would share it.
          const isEndless = seededRandom.chance(0.3)
          const [gone, stays] = [client(), !isEndless && seededRandom.chance(0.5) ? ask(lane.wire, target) : undefined]
          const response = isEndless ? ask(gone, `/endless/${n}`, 'X-Fault: streams for ever\r\n') : ask(gone, target)
          const when = seededRandom.pick(['at once', 'connected', 'first bytes', 'later'])
          if (when === 'connected') await event(gone, 'connect')
          if (when === 'first bytes') await event(gone, 'data')
          if (when === 'later') await waitEventLoopTurns(seededRandom.between(0, 20))
          gone.socket.resetAndDestroy()
          await response
          // After a stall, a connection that was never used is closed.
          if (lane.wire.closed) lane.wire = client()
          // Every concurrent request has its own response, also one that waited for another.
          if (stays) check(target, 'right', await stays)
          else if (seededRandom.chance(0.5)) check(target, 'right', await ask(lane.wire, target))
        })
      })

      test('sends its headers slowly and gets a response', async () => {
        await rounds(200, async (n, lane) => {
          const target = `/drips/${n % 50}`
          const response = lane.wire.expectResponse('GET')
          for (const part of pieces(seededRandom, `GET ${target} HTTP/1.1\r\nHost: app.localhost\r\n\r\n`)) {
            lane.wire.socket.write(part)
            await waitEventLoopTurns(1)
          }
          check(target, 'right', await response)
        })
      })

      test('never ends its headers: 408', async () => {
        // Node's own server uses real timers, which the test clock does not advance.
        const patient = fast_path ? edge : await startEdge({ fast_path, header_timeout_ms: 200 })
        await batches(async (numbers) => {
          const wires = numbers.map(() => client(patient))
          const answers = wires.map((one) => one.expectResponse('GET'))
          for (const one of wires) one.socket.write('GET /never HTTP/1.1\r\nHost: app.localhost\r\nX-')
          for (const got of await patient.advanceUntilDone(Promise.all(answers)))
            if (got.status !== 408 || !got.whole) mistake('/never', 'not 408', got)
          await until(() => wires.every(({ closed }) => closed) || undefined, { what: 'the end of the connections' })
        })
        if (patient !== edge) await patient.close()
      })

      test('pipelines', async () => {
        await rounds(50, async (n, lane) => {
          const requests: { target: string; method: string; answer: Promise<RawHttpResponse>; body: string }[] = []
          let bytes = ''
          for (let i = 0; i < 5; i++) {
            const target = `/pipelined/${seededRandom.chance(0.5) ? seededRandom.between(0, 49) : `${n}/${i}`}`
            const method = seededRandom.pick(['GET', 'GET', 'HEAD', 'POST'])
            const body = method === 'POST' ? `body ${n} ${i} `.repeat(seededRandom.between(1, 99)) : ''
            requests.push({ target, method, body, answer: lane.wire.expectResponse(method) })
            bytes += `${method} ${target} HTTP/1.1\r\nHost: app.localhost\r\n${method === 'POST' ? `Content-Length: ${body.length}\r\n` : ''}\r\n${body}`
          }
          for (const part of seededRandom.chance(0.5) ? [bytes] : pieces(seededRandom, bytes)) lane.wire.socket.write(part)
          for (const { target, method, answer: response, body } of requests) {
            const got = await response
            if (method === 'GET') check(target, 'right', got)
            else if (got.status !== 200 || !got.whole || got.body.toString() !== body) mistake(target, `not the answer to ${method}`, got)
          }
        })
      })
    })

    test('leaves no connection and no file descriptor behind', async () => {
      // Advance the clock, because idle connections are kept for a few seconds.
      await until(() => edge.advance(1_000).then(() => app.sockets.size === 0 || undefined), { what: 'the end of all connections to the app' })
      await until(() => openFiles().sockets <= base.sockets || undefined, { what: 'the end of all sockets' })
      // The second tier has at most a little more than sixteen segments of two files each, whatever the number of requests.
      expect(openFiles().files).toBeLessThanOrEqual(base.files + 40)
    })
  })
}

function isStartOf(body: Buffer, response: RawHttpResponse): boolean {
  if (response.headers.get('transfer-encoding') !== 'chunked') return body.subarray(0, response.body.length).equals(response.body)
  return true
}

/** Splits a text into two to six parts. */
function pieces(seededRandom: SeededRandom, text: string): string[] {
  const cuts = Array.from({ length: seededRandom.between(1, 5) }, () => seededRandom.between(1, text.length - 1)).toSorted((a, b) => a - b)
  return [0, ...cuts].map((from, index) => text.slice(from, cuts[index])).filter((part) => part !== '')
}

const event = (client: RawHttpClient, name: 'connect' | 'data'): Promise<void> =>
  new Promise((resolve) => {
    client.socket.once(name, () => resolve())
    client.socket.once('close', () => resolve())
  })

/** Open handles of this process, which includes the edge. */
function openFiles(): { sockets: number; files: number } {
  if (process.platform !== 'linux') return { sockets: process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length, files: 0 }
  const links = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`)
    } catch {
      return ''
    }
  })
  const sockets = links.filter((link) => link.startsWith('socket:')).length
  return { sockets, files: links.length - sockets }
}
