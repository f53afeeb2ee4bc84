import { createHmac } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { LogDrain } from '../../server/contract/log-drains.ts'
import { runCommand } from '../support/command.ts'
import { startSyslogReceiver, startUdpReceiver } from '../support/log-receivers.ts'
import { startTestPlatform, type TestPlatform, until } from '../support/platform.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

/* From a line of an app to receivers on this machine: batches, order, attempts by the clock, and what a slow receiver changes: nothing. */

const server = `
require('node:http').createServer((request, response) => {
  const url = new URL(request.url, 'http://app')
  const count = Number(url.searchParams.get('count') ?? 1)
  const say = (from) => {
    let text = ''
    const to = Math.min(count, from + 500)
    for (let n = from; n < to; n++) text += decodeURIComponent(url.pathname.slice(1)) + (count > 1 ? ' ' + n : '') + ' ' + (url.searchParams.get('pad') ?? '') + '\\n'
    if (to === count) process.stdout.write(text, () => response.end('said'))
    else process.stdout.write(text, () => say(to))
  }
  if (url.pathname === '/') response.end('ok')
  else say(0)
}).listen(process.env.PORT, process.env.HOST)
`

let repository: Repository
let receiver: WebhookReceiver
let home: TestPlatform
const base = '/instance/projects/talker/log-drains'

beforeAll(async () => {
  repository = makeRepository({
    'package.json': JSON.stringify({ name: 'talker', private: true, scripts: { build: 'node -p "6*7"', start: 'node server.js' } }),
    'server.js': server,
  })
  receiver = await startWebhookReceiver()
  home = await startTestPlatform({ runtime: 'process' })
  await home.createProject({ slug: 'talker', repo_url: repository.url })
  const { id } = await home.deploy('talker')
  expect(await home.waitForEnd('talker', id)).toMatchObject({ status: 'ready' })
})
afterEach(async () => {
  for (const { id } of await drains()) await home.api('DELETE', `${base}/${id}`)
  receiver.received.splice(0)
  receiver.statuses.splice(0)
})
afterAll(async () => {
  await home?.remove()
  await receiver?.close()
  repository?.remove()
})

const drains = async () => (await home.api<{ log_drains: LogDrain[] }>('GET', base)).body.log_drains
const stateOf = async (id: string) => (await drains()).find((drain) => drain.id === id)!.state
const addDrain = async (body: object) => {
  const response = await home.api<{ log_drain: LogDrain; signing_secret: string | null }>('POST', base, body)
  expect([response.status, response.body]).toEqual([201, response.body])
  return { id: response.body.log_drain.id, secret: response.body.signing_secret ?? '' }
}
const addHttp = (body: object = {}) => addDrain({ kind: 'http', address: receiver.url, sources: ['app'], ...body })
const say = async (text: string, query = '') => {
  expect((await home.fetchEdge('talker.localhost', `/${encodeURIComponent(text)}${query}`)).body).toBe('said')
}
type Line = Record<string, unknown> & { message: string }
const linesOf = (body: string) =>
  body
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line)
const receivedLines = () => receiver.received.flatMap(({ body }) => linesOf(body))
const waitForLines = (isReached: (lines: Line[]) => boolean) =>
  until(
    async () => {
      await home.advance(1_000)
      return isReached(receivedLines()) ? receivedLines() : undefined
    },
    { what: 'lines at the receiver' },
  )
const messagesOf = (lines: Line[]) => lines.map(({ message }) => message.trim())

describe('HTTP', () => {
  test('gets the next lines of the app as NDJSON, signed, with its headers', async () => {
    await say('before the drain')
    const { id, secret } = await addHttp({ headers: [{ name: 'Authorization', value: 'Bearer of-the-receiver' }] })
    await say('hello \u00e9')
    await say('ERROR out of cheese')
    const lines = await waitForLines((all) => all.length === 2)
    expect(messagesOf(lines)).toEqual(['hello \u00e9', 'ERROR out of cheese'])
    expect(lines[0]).toMatchObject({
      id: expect.stringMatching(/^prj_\w+\.\d+$/),
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      source: 'app',
      level: 'info',
      project: 'talker',
      environment: 'production',
      branch: 'main',
      service: null,
      deployment_id: expect.stringMatching(/^dpl_/),
      stream: 'stdout',
    })
    expect(lines[1]).toMatchObject({ level: 'error' })
    const request = receiver.received[0]!
    expect(request.headers).toMatchObject({ 'content-type': 'application/x-ndjson', 'homeport-drain': id, authorization: 'Bearer of-the-receiver' })
    const { t, v1 } = Object.fromEntries(
      String(request.headers['homeport-signature'])
        .split(',')
        .map((part) => part.split('=')),
    ) as Record<string, string>
    expect(createHmac('sha256', secret).update(`${t}.${request.body}`).digest('hex')).toBe(v1)
    await until(async () => ((await stateOf(id)).delivered === 2 ? true : undefined), { what: 'the count' })
    expect(await stateOf(id)).toMatchObject({ status: 'delivering', delivered: 2, dropped: 0, last_error: null, last_success_at: expect.any(String) })
  })

  test('gets build logs and the request log, and a JSON array if wanted', async () => {
    await addHttp({ sources: ['build', 'request'], format: 'json' })
    const { id } = await home.deploy('talker')
    await home.waitForEnd('talker', id)
    await home.fetchEdge('talker.localhost', '/said-by-the-request-log?token=secret')
    const all = await until(
      async () => {
        await home.advance(1_000)
        const lines = receiver.received.flatMap(({ body }) => JSON.parse(body) as Line[])
        return lines.some(({ source, message }) => source === 'request' && message.includes('said-by')) ? lines : undefined
      },
      { what: 'the request' },
    )
    expect(
      all.filter(({ source, step, deployment_id }) => source === 'build' && step === 'build' && deployment_id === id).map(({ message }) => message),
    ).toContain('42')
    expect(all.filter(({ source }) => source === 'app')).toEqual([])
    expect(all.find(({ message }) => message.includes('said-by'))).toMatchObject({
      environment: 'production',
      level: 'info',
      request: { method: 'GET', path: '/said-by-the-request-log', query: 'token=***', status: 200 },
    })
    expect(receiver.received[0]?.headers['content-type']).toBe('application/json')
  })

  test('a receiver that fails gets the same lines later, in order, also after a restart', async () => {
    const { id } = await addHttp()
    receiver.statuses.push(500, 302, 503)
    await say('one', '?count=700')
    const failed = await until(
      async () => {
        await home.advance(1_000)
        const state = await stateOf(id)
        return state.status === 'failing' && receiver.received.length >= 3 ? state : undefined
      },
      { what: 'three failed attempts' },
    )
    expect(failed).toMatchObject({ delivered: 0, dropped: 0, last_error: { message: 'The response has the status 503.' } })
    expect(new Set(receiver.received.slice(0, 3).map(({ body }) => body)).size).toBe(1)
    receiver.received.splice(0, 3)
    const lines = await waitForLines((all) => all.length >= 700)
    expect(messagesOf(lines)).toEqual(Array.from({ length: 700 }, (_, n) => `one ${n}`))
    expect(receiver.received[0]!.body.split('\n').length).toBeLessThanOrEqual(501)
    await until(async () => ((await stateOf(id)).delivered === 700 ? true : undefined), { what: 'the count' })
  })

  test('a receiver that never answers does not hold up the app or its log, and what the log loses is counted', async () => {
    const hanging = await startSyslogReceiver()
    hanging.is_hanging = true
    const { id } = await addHttp({ address: `http://127.0.0.1:${hanging.port}/` })
    await say('first')
    await until(
      async () => {
        await home.advance(15_000)
        return (await stateOf(id)).last_error?.message === 'There was no response in time.' ? true : undefined
      },
      { what: 'an attempt that timed out' },
    )
    // 24 MB, of which the log keeps the last 20. The app has written all of it when it responds.
    await say('loud', `?count=12000&pad=${'x'.repeat(2_000)}`)
    await say('last words')
    const read = await runCommand(home.handle.instance, repository.folder, ['logs', 'talker', '--lines', '20'])
    expect(read.out).toContain('last words')
    expect(await stateOf(id)).toMatchObject({ status: 'failing', delivered: 0 })

    await home.api('PATCH', `${base}/${id}`, { address: receiver.url })
    // The clock stays, because a request that it made time out would be repeated.
    const lines = await until(() => (receivedLines().some(({ message }) => message.startsWith('last words')) ? receivedLines() : undefined), {
      what: 'the last line',
    })
    const [gap] = lines
    const dropped = Number(gap?.dropped)
    expect(gap).toMatchObject({
      source: 'homeport',
      level: 'warn',
      message: `${dropped} lines were dropped here, because the log drain was too far behind.`,
    })
    const numbers = lines.filter(({ message }) => message.startsWith('loud')).map(({ message }) => Number(message.split(' ')[1]))
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, n) => 12_000 - numbers.length + n))
    // `first` is one of the dropped lines.
    expect(numbers.length).toBe(12_001 - dropped)
    await until(async () => ((await stateOf(id)).delivered === lines.length ? true : undefined), { what: 'the count' })
    expect(await stateOf(id)).toMatchObject({ status: 'delivering', dropped, last_dropped_at: expect.any(String) })
    await hanging.close()
  })
})

describe('syslog', () => {
  test('over TCP: RFC 5424 with octet counting; a receiver that is down or hangs gets the lines later', async () => {
    const first = await startSyslogReceiver()
    const { id } = await addDrain({ kind: 'syslog', address: `tcp://127.0.0.1:${first.port}`, sources: ['app'] })
    await say('over tcp\u00e9')
    await until(
      async () => {
        await home.advance(1_000)
        return first.messages.length === 1 ? true : undefined
      },
      { what: 'the message' },
    )
    expect(first.messages[0]).toMatch(
      /^<134>1 \d{4}-\d\d-\d\dT[\d:.]+Z talker web dpl_\w+ app \[homeport@32473 project="talker" environment="production" branch="main" id="prj_\w+\.\d+"\] \ufeffover tcp\u00e9 $/,
    )
    await until(async () => ((await stateOf(id)).delivered === 1 ? true : undefined), { what: 'the count' })
    await first.close()
    await say('while it was down')
    await until(
      async () => {
        await home.advance(1_000)
        return (await stateOf(id)).status === 'failing' ? true : undefined
      },
      { what: 'a failed attempt' },
    )
    expect((await stateOf(id)).last_error?.message).toMatch(/^The connection was refused/)
    const second = await startSyslogReceiver({ port: first.port })
    second.is_hanging = true
    await until(
      async () => {
        await home.advance(11_000)
        return (await stateOf(id)).last_error?.message === 'There was no response in time.' ? true : undefined
      },
      { what: 'an attempt that timed out' },
    )
    expect((await stateOf(id)).delivered).toBe(1)
    second.is_hanging = false
    await say('and again')
    await until(
      async () => {
        await home.advance(11_000)
        return second.messages.length >= 2 ? true : undefined
      },
      { what: 'the missing messages' },
    )
    expect(second.messages.map((message) => message.split('\ufeff')[1])).toEqual(['while it was down ', 'and again '])
    await second.close()
  })

  test('over UDP', async () => {
    const udp = await startUdpReceiver()
    await addDrain({ kind: 'syslog', address: `udp://127.0.0.1:${udp.port}`, sources: ['app'] })
    await say('over udp')
    await until(
      async () => {
        await home.advance(1_000)
        return udp.messages.length > 0 ? true : undefined
      },
      { what: 'the datagram' },
    )
    expect(udp.messages[0]).toMatch(/^<134>1 .* \ufeffover udp $/)
    await udp.close()
  })
})
