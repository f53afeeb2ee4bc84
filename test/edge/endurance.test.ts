import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDice } from '../support/dice.ts'
import { paths, startEdge, until, type TestEdge } from '../support/edge.ts'
import { bodyOf, startFaultApp, type Fault } from '../support/fault-app.ts'
import { Wire, type WireAnswer } from '../support/wire.ts'

/** How often each fault happens on each way through the edge: `npm run test:faults` takes 10 000. */
const times = Number(process.env.HOMEPORT_FAULTS ?? 1000)
const seed = Number(process.env.HOMEPORT_SEED ?? 20_261_121)
const dice = createDice(seed)
/** For what is only waited for. Everything else has the time that people have: all three, client, edge and app, are this one process. */
const hastily = {
  // A burst of thousands holds it up for a while.
  upstream_timeout_ms: times > 1_000 ? 6_000 : 2_500,
  head_timeout_ms: 2000,
}

/** Lanes for what is only waited for. Each holds four connections at most. */
const patient = times > 1_000 ? 2_000 : 500

/** What the client must see. `cut`: an answer that visibly does not end, or a page of ours when nothing had been sent yet. */
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
  'breaks its chunks': 'cut',
  'sends more than it says': 'right',
  'closes at random': 'right',
}

const ways = paths.flatMap((path) => [true, false].map((caching) => ({ ...path, caching, name: `${path.name}, cache ${caching ? 'on' : 'off'}` })))

describe.each(ways)(`${times} times each, seed ${seed}, $name`, ({ fast_path, caching }) => {
  let edge: TestEdge
  let hasty: TestEdge
  let app: Awaited<ReturnType<typeof startFaultApp>>
  let base: { sockets: number; files: number }
  const directory = mkdtempSync(join(tmpdir(), 'homeport-faults-'))
  const mistakes: string[] = []

  beforeAll(async () => {
    app = await startFaultApp()
    // Little memory: entries move to the disk and back all the time.
    const cache = (name: string) => ({ directory: join(directory, name), memory_bytes: () => 2 * 2 ** 20, disk_bytes: () => 64 * 2 ** 20 })
    edge = await startEdge({ fast_path, ...(caching ? { cache: cache('edge') } : {}) })
    hasty = await startEdge({ fast_path, ...hastily, ...(caching ? { cache: cache('hasty') } : {}) })
    for (const one of [edge, hasty]) await one.toPort(app.port)
    base = openFiles()
  })
  afterAll(async () => {
    for (const one of [edge, hasty]) await one.close()
    await app.close()
    rmSync(directory, { recursive: true, force: true })
  })

  const wire = (to = edge): Wire => new Wire(to.port)
  const ask = (on: Wire, target: string, more = '', method = 'GET', body = ''): Promise<WireAnswer> =>
    on.ask(`${method} ${target} HTTP/1.1\r\nHost: app.localhost\r\n${more}${body ? `Content-Length: ${body.length}\r\n` : ''}X-Lane: 1`, body)

  const mistake = (target: string, what: string, answer: WireAnswer): void => {
    mistakes.push(
      `${target}: ${what}, got ${answer.status} ${answer.whole ? 'whole' : 'cut'} ${answer.body.length} bytes: ${answer.body.toString('latin1', 0, 80)}`,
    )
  }
  const check = (target: string, outcome: Outcome, answer: WireAnswer): void => {
    const body = bodyOf(target)
    if (outcome === 'right') {
      if (answer.status !== 200 || !answer.whole || !answer.body.equals(body)) mistake(target, `not the right answer of ${body.length} bytes`, answer)
    } else if (outcome === 'cut') {
      const isPage = answer.status === 502 && answer.whole
      if (!isPage && (answer.whole || !isStartOf(body, answer))) mistake(target, 'not cut', answer)
    } else if (answer.status !== outcome || !answer.whole || !answer.body.includes(answer.headers.get('x-request-id') ?? 'no id'))
      mistake(target, `not a page with ${outcome}`, answer)
  }

  /** `times` rounds on so many lanes; each lane keeps its connection as long as the edge does. */
  const rounds = async (lanes: number, round: (n: number, lane: { wire: Wire }) => Promise<void>, to = edge): Promise<void> => {
    let n = 0
    const run = async (): Promise<void> => {
      const lane = { wire: wire(to) }
      while (n < times) {
        if (lane.wire.closed) lane.wire = wire(to)
        await round(n++, lane)
        if (lane.wire.stray !== '') mistakes.push(`bytes that nobody asked for: ${lane.wire.stray.slice(0, 80)}`)
      }
      lane.wire.end()
    }
    await Promise.all(Array.from({ length: lanes }, run))
    expect(mistakes.splice(0).slice(0, 5)).toEqual([])
  }

  describe('the app', () => {
    test.each(Object.entries(outcomes) as [Fault, Outcome][])(
      '%s: %s',
      async (fault, outcome) => {
        const to = outcome === 504 ? hasty : edge
        const round = async (n: number, lane: { wire: Wire }): Promise<void> => {
          const target = `/${fault.replaceAll(' ', '-')}/${n}`
          // Of some the same thing is asked for by several at once: they may share one request to the app, and its fault.
          const others = dice.chance(0.1) ? [wire(to), wire(to)] : []
          const answers = await Promise.all([lane.wire, ...others].map((one) => ask(one, target, `X-Fault: ${fault}\r\n`)))
          for (const answer of answers) check(target, outcome, answer)
          for (const other of others) other.end()
          if (lane.wire.closed) lane.wire = wire(to)
          const again = await ask(lane.wire, target)
          check(target, 'right', again)
          if (caching && outcome !== 'right' && again.headers.get('x-cache') === 'HIT') mistake(target, 'a fault was stored', again)
        }
        await rounds(outcome === 504 ? patient : 50, round, to)
      },
      300_000,
    )
  })

  describe('the client', () => {
    test('aborts', async () => {
      await rounds(100, async (n, lane) => {
        const target = `/aborts/${n}`
        // An answer without an end has an address of its own: whoever asks for that before the edge learns that the first one is gone shares it.
        const isEndless = dice.chance(0.3)
        const [gone, stays] = [wire(), !isEndless && dice.chance(0.5) ? ask(lane.wire, target) : undefined]
        const answer = isEndless ? ask(gone, `/endless/${n}`, 'X-Fault: streams for ever\r\n') : ask(gone, target)
        const when = dice.pick(['at once', 'connected', 'first bytes', 'later'])
        if (when === 'connected') await event(gone, 'connect')
        if (when === 'first bytes') await event(gone, 'data')
        if (when === 'later') await new Promise((resolve) => setTimeout(resolve, dice.between(0, 4)))
        gone.socket.resetAndDestroy()
        await answer
        // Held up long enough, a connection that was never used is closed.
        if (lane.wire.closed) lane.wire = wire()
        // Whoever asked for the same at the same time has got an answer of its own, also when it waited for that of the other.
        if (stays) check(target, 'right', await stays)
        else if (dice.chance(0.5)) check(target, 'right', await ask(lane.wire, target))
      })
    }, 300_000)

    test('drips its head and is answered', async () => {
      await rounds(200, async (n, lane) => {
        const target = `/drips/${n % 50}`
        const answer = lane.wire.expect('GET')
        for (const part of pieces(`GET ${target} HTTP/1.1\r\nHost: app.localhost\r\n\r\n`)) {
          lane.wire.socket.write(part)
          await new Promise((resolve) => setTimeout(resolve, 1))
        }
        check(target, 'right', await answer)
      })
    }, 300_000)

    test('never ends its head: 408', async () => {
      const round = async (n: number, lane: { wire: Wire }): Promise<void> => {
        const answer = lane.wire.expect('GET')
        lane.wire.socket.write(`GET /never/${n} HTTP/1.1\r\nHost: app.localhost\r\nX-`)
        const got = await answer
        if (got.status !== 408 || !got.whole) mistake('/never', 'not 408', got)
        await until(() => lane.wire.closed)
      }
      await rounds(patient, round, hasty)
    }, 300_000)

    test('pipelines', async () => {
      await rounds(50, async (n, lane) => {
        const asked: { target: string; method: string; answer: Promise<WireAnswer>; body: string }[] = []
        let bytes = ''
        for (let i = 0; i < 5; i++) {
          const target = `/pipelined/${dice.chance(0.5) ? dice.between(0, 49) : `${n}/${i}`}`
          const method = dice.pick(['GET', 'GET', 'HEAD', 'POST'])
          const body = method === 'POST' ? `body ${n} ${i} `.repeat(dice.between(1, 99)) : ''
          asked.push({ target, method, body, answer: lane.wire.expect(method) })
          bytes += `${method} ${target} HTTP/1.1\r\nHost: app.localhost\r\n${method === 'POST' ? `Content-Length: ${body.length}\r\n` : ''}\r\n${body}`
        }
        for (const part of dice.chance(0.5) ? [bytes] : pieces(bytes)) lane.wire.socket.write(part)
        for (const { target, method, answer, body } of asked) {
          const got = await answer
          if (method === 'GET') check(target, 'right', got)
          else if (got.status !== 200 || !got.whole || got.body.toString() !== body) mistake(target, `not the answer to ${method}`, got)
        }
      })
    }, 300_000)
  })

  test('then no connection is left, and no file', async () => {
    await until(() => app.sockets.size === 0)
    await until(() => openFiles().sockets <= base.sockets)
    // The second tier holds its disk in sixteen segments or a little more, of two files each, however much was asked.
    expect(openFiles().files).toBeLessThanOrEqual(base.files + 40)
  })
})

function isStartOf(body: Buffer, answer: WireAnswer): boolean {
  if (answer.headers.get('transfer-encoding') !== 'chunked') return body.subarray(0, answer.body.length).equals(answer.body)
  return true
}

/** A text in two to six parts. */
function pieces(text: string): string[] {
  const cuts = Array.from({ length: dice.between(1, 5) }, () => dice.between(1, text.length - 1)).toSorted((a, b) => a - b)
  return [0, ...cuts].map((from, index) => text.slice(from, cuts[index])).filter((part) => part !== '')
}

const event = (wire: Wire, name: 'connect' | 'data'): Promise<void> =>
  new Promise((resolve) => {
    wire.socket.once(name, () => resolve())
    wire.socket.once('close', () => resolve())
  })

/** What this process, the edge in it, holds open. */
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
