import { createHmac } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { LogDrain } from '../../server/contract/log-drains.ts'
import { createTempFolder } from '../support/instance-process.ts'
import { createTestAuthority } from '../support/tls.ts'
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

const folder = createTempFolder('log-drains')
let authority: ReturnType<typeof createTestAuthority>
let repository: Repository
let receiver: WebhookReceiver
let home: TestPlatform
const base = '/instance/projects/talker/log-drains'

/** The platform trusts the authority of the tests. `ahead_ms`: one that starts again must not be behind the clock that the tests have moved. */
async function start(ahead_ms = 0): Promise<TestPlatform> {
  const { NODE_EXTRA_CA_CERTS: before } = process.env
  process.env.NODE_EXTRA_CA_CERTS = join(folder.path, 'ca.pem')
  try {
    return await startTestPlatform({ runtime: 'process', data_dir: join(folder.path, 'data'), ahead_ms })
  } finally {
    if (before === undefined) delete process.env.NODE_EXTRA_CA_CERTS
    else process.env.NODE_EXTRA_CA_CERTS = before
  }
}

beforeAll(async () => {
  repository = makeRepository({
    'package.json': JSON.stringify({ name: 'talker', private: true, scripts: { build: 'node -p "6*7"', start: 'node server.js' } }),
    'server.js': server,
  })
  receiver = await startWebhookReceiver()
  authority = createTestAuthority()
  writeFileSync(join(folder.path, 'ca.pem'), (await authority.ensure()).certificate)
  home = await start()
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
  folder.remove()
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

  test('a receiver that fails gets the same lines later, in order', async () => {
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

describe('HTTP, when the receiver refuses', () => {
  test('a request that is too large is sent in smaller ones', async () => {
    const { id } = await addHttp()
    receiver.statuses.push(413, 413)
    await say('large', '?count=400')
    await waitForLines(() => receiver.received.length >= 5)
    const sizes = receiver.received.map(({ body }) => linesOf(body).length)
    expect(sizes.slice(0, 3)).toEqual([400, 200, 100])
    await until(async () => ((await stateOf(id)).delivered === 400 ? true : undefined), { what: 'the count' })
    expect(messagesOf(receiver.received.slice(2).flatMap(({ body }) => linesOf(body)))).toEqual(Array.from({ length: 400 }, (_, n) => `large ${n}`))
    expect(await stateOf(id)).toMatchObject({ dropped: 0 })
  })

  test('a single line that it refuses is dropped and counted, and the next ones arrive', async () => {
    const { id } = await addHttp()
    receiver.statuses.push(400, 400)
    await say('poison')
    await until(
      async () => {
        await home.advance(1_000)
        return (await stateOf(id)).dropped === 1 ? true : undefined
      },
      { what: 'the dropped line' },
    )
    receiver.received.splice(0)
    await say('good')
    const lines = await waitForLines((all) => all.some(({ message }) => message.startsWith('good')))
    expect(lines).toMatchObject([{ source: 'homeport', dropped: 1 }, { source: 'app' }])
    expect(await stateOf(id)).toMatchObject({ status: 'delivering', dropped: 1 })
  })
})

test('environments: a drain of previews gets nothing of production', async () => {
  const { id } = await addHttp({ environments: 'previews' })
  const all = await addHttp()
  await say('of production')
  await waitForLines((lines) => lines.length === 1)
  await until(async () => ((await stateOf(all.id)).delivered === 1 ? true : undefined), { what: 'the other drain' })
  expect(receiver.received.map(({ headers }) => headers['homeport-drain'])).toEqual([all.id])
  expect(await stateOf(id)).toMatchObject({ status: 'waiting', delivered: 0, dropped: 0 })
})

test('a drain that is turned off and on begins with the next line', async () => {
  const { id } = await addHttp()
  await home.api('PATCH', `${base}/${id}`, { is_enabled: false })
  await say('while it is off')
  await home.api('PATCH', `${base}/${id}`, { is_enabled: true })
  await say('while it is on')
  expect(messagesOf(await waitForLines((lines) => lines.length > 0))).toEqual(['while it is on'])
})

test('a test line says what is wrong', async () => {
  const { id } = await addHttp({ address: 'http://127.0.0.1:1/' })
  const send = async () => (await home.api<{ error: string | null; status: number | null }>('POST', `${base}/${id}/test`)).body
  expect(await send()).toMatchObject({ error: 'The connection was refused (ECONNREFUSED).', status: null })
  await home.api('PATCH', `${base}/${id}`, { address: receiver.url })
  receiver.statuses.push(401)
  expect(await send()).toMatchObject({ error: 'The response has the status 401.', status: 401 })
  expect(await send()).toMatchObject({ error: null, status: 200 })
  expect(linesOf(receiver.received[1]!.body)).toMatchObject([{ source: 'homeport', message: 'Test line from Homeport.', project: 'talker' }])
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

  test('over TLS, to a receiver that is trusted', async () => {
    const identity = async (of: typeof authority) => {
      const { key, certificate } = await of.identityFor('127.0.0.1')
      return { key, cert: certificate }
    }
    const trusted = await startSyslogReceiver({ tls: await identity(authority) })
    const foreign = await startSyslogReceiver({ tls: await identity(createTestAuthority('foreign')) })
    const first = await addDrain({ kind: 'syslog', address: `tls://127.0.0.1:${trusted.port}`, sources: ['app'] })
    const second = await addDrain({ kind: 'syslog', address: `tls://127.0.0.1:${foreign.port}`, sources: ['app'] })
    await say('over tls')
    await until(
      async () => {
        await home.advance(1_000)
        const [good, bad] = [await stateOf(first.id), await stateOf(second.id)]
        return good.delivered === 1 && bad.status === 'failing' ? true : undefined
      },
      { what: 'one delivery and one refusal' },
    )
    expect(trusted.messages).toEqual([expect.stringContaining('over tls')])
    expect((await stateOf(second.id)).last_error?.message).toMatch(/^The certificate of the host is not trusted/)
    expect(foreign.messages).toEqual([])
    await trusted.close()
    await foreign.close()
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

describe('a file', () => {
  const filesOf = () => {
    const root = join(home.data_dir, 'log-drains')
    const projects = existsSync(root) ? readdirSync(root) : []
    return projects.flatMap((project) => readdirSync(join(root, project)).map((file) => join(root, project, file))).toSorted()
  }

  test('gets lines of JSON, is rotated by its size, and is deleted with the drain', async () => {
    const { id } = await addDrain({ kind: 'file', address: 'output', sources: ['app'] })
    await say('filed', `?count=6000&pad=${'x'.repeat(2_000)}`)
    await until(
      async () => {
        if ((await stateOf(id)).delivered === 6000) return true
        if ((await stateOf(id)).delivered === 0) await home.advance(1_000)
        return undefined
      },
      { what: 'all lines' },
    )
    const files = filesOf()
    expect(files.map((file) => file.split('/').at(-1))).toEqual(['output.log', 'output.log.1'])
    for (const file of files) {
      expect(statSync(file).size).toBeLessThanOrEqual(10 * 2 ** 20)
      expect(statSync(file).mode & 0o777).toBe(0o600)
    }
    const lines = files.toReversed().flatMap((file) => linesOf(readFileSync(file, 'utf8')))
    expect(messagesOf(lines).map((message) => message.split(' ')[1])).toEqual(Array.from({ length: 6000 }, (_, n) => String(n)))
    await home.api('DELETE', `${base}/${id}`)
    expect(filesOf()).toEqual([])
  })

  test('is not written through a link', async () => {
    const { id } = await addDrain({ kind: 'file', address: 'linked', sources: ['app'] })
    const send = async () => (await home.api<{ error: string | null }>('POST', `${base}/${id}/test`)).body.error
    expect(await send()).toBeNull()
    const [file = ''] = filesOf()
    const outside = join(folder.path, 'outside.txt')
    writeFileSync(outside, 'untouched')
    unlinkSync(file)
    symlinkSync(outside, file)
    expect(await send()).toBe('The file could not be written (ELOOP).')
    expect(readFileSync(outside, 'utf8')).toBe('untouched')
  })

  test('goes with its project', async () => {
    await home.createProject({ slug: 'short-lived' })
    const { body } = await home.api<{ log_drain: LogDrain }>('POST', '/instance/projects/short-lived/log-drains', { kind: 'file', address: 'gone' })
    await home.api('POST', `/instance/projects/short-lived/log-drains/${body.log_drain.id}/test`)
    expect(filesOf()).toHaveLength(1)
    await home.api('DELETE', '/v1/projects/short-lived')
    await until(() => (filesOf().length === 0 ? true : undefined), { what: 'the deletion of the file' })
  })
})

test('a kill loses nothing: what was not delivered is sent after the restart', async () => {
  const { id } = await addHttp()
  receiver.statuses.push(...Array.from({ length: 100 }, () => 503))
  await say('before the kill')
  await until(
    async () => {
      await home.advance(1_000)
      return (await stateOf(id)).status === 'failing' ? true : undefined
    },
    { what: 'a failed attempt' },
  )
  const ahead_ms = (await home.now()) - Date.now()
  await home.kill()
  receiver.received.splice(0)
  receiver.statuses.splice(0)
  home = await start(ahead_ms)
  await until(async () => ((await home.fetchEdge('talker.localhost', '/after')).body === 'said' ? true : undefined), { what: 'the app' })
  const lines = await waitForLines((all) => all.some(({ message }) => message.startsWith('after')))
  expect(messagesOf(lines).filter((message) => ['before the kill', 'after'].includes(message))).toEqual(['before the kill', 'after'])
})
