import { createHmac } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { fullTest } from '../support/full-test.ts'
import { runCommand } from '../support/command.ts'
import { startSyslogReceiver } from '../support/log-receivers.ts'
import { until } from '../support/platform.ts'
import { drainsPath, linesOf, messagesOf, type ReceivedLine, startTalker, type Talker } from './talker.ts'

/* From a line of an app to a receiver on this machine: batches, order, attempts by the clock, and what a slow receiver changes: nothing. */

let talker: Talker
beforeAll(async () => {
  talker = await startTalker()
})
afterEach(() => talker.reset())
afterAll(() => talker?.close())

describe('HTTP', () => {
  test('gets the next lines of the app as NDJSON, signed, with its headers', async () => {
    await talker.say('before the drain')
    await talker.untilStored('before the drain')
    const { id, secret } = await talker.addHttp({ headers: [{ name: 'Authorization', value: 'Bearer of-the-receiver' }] })
    await talker.say('hello \u00e9')
    await talker.say('ERROR out of cheese')
    const lines = await talker.waitForLines((all) => all.length === 2)
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
    const request = talker.receiver.received[0]!
    expect(request.headers).toMatchObject({ 'content-type': 'application/x-ndjson', 'homeport-drain': id, authorization: 'Bearer of-the-receiver' })
    const { t, v1 } = Object.fromEntries(
      String(request.headers['homeport-signature'])
        .split(',')
        .map((part) => part.split('=')),
    ) as Record<string, string>
    expect(createHmac('sha256', secret).update(`${t}.${request.body}`).digest('hex')).toBe(v1)
    await until(async () => ((await talker.stateOf(id)).delivered === 2 ? true : undefined), { what: 'the count' })
    expect(await talker.stateOf(id)).toMatchObject({
      status: 'delivering',
      delivered: 2,
      dropped: 0,
      last_error: null,
      last_success_at: expect.any(String),
    })
  })

  test('gets build logs and the request log, and a JSON array if wanted', async () => {
    await talker.addHttp({ sources: ['build', 'request'], format: 'json' })
    const { id } = await talker.home.deploy('talker')
    await talker.home.waitForEnd('talker', id)
    await talker.home.fetchEdge('talker.localhost', '/said-by-the-request-log?token=secret')
    const all = await talker.untilAdvanced(async () => {
      const lines = talker.receiver.received.flatMap(({ body }) => JSON.parse(body) as ReceivedLine[])
      return lines.some(({ source, message }) => source === 'request' && message.includes('said-by')) ? lines : undefined
    }, 'the request')
    expect(
      all.filter(({ source, step, deployment_id }) => source === 'build' && step === 'build' && deployment_id === id).map(({ message }) => message),
    ).toContain('42')
    expect(all.filter(({ source }) => source === 'app')).toEqual([])
    expect(all.find(({ message }) => message.includes('said-by'))).toMatchObject({
      environment: 'production',
      level: 'info',
      request: { method: 'GET', path: '/said-by-the-request-log', query: 'token=***', status: 200 },
    })
    expect(talker.receiver.received[0]?.headers['content-type']).toBe('application/json')
  })

  test('a receiver that fails gets the same lines later, in order', async () => {
    const { id } = await talker.addHttp()
    talker.receiver.statuses.push(500, 302, 503)
    await talker.say('one', '?count=700')
    const failed = await talker.untilAdvanced(async () => {
      const state = await talker.stateOf(id)
      return state.status === 'failing' && talker.receiver.received.length >= 3 ? state : undefined
    }, 'three failed attempts')
    expect(failed).toMatchObject({ delivered: 0, dropped: 0, last_error: { message: 'The response has the status 503.' } })
    expect(new Set(talker.receiver.received.slice(0, 3).map(({ body }) => body)).size).toBe(1)
    talker.receiver.received.splice(0, 3)
    const lines = await talker.waitForLines((all) => all.length >= 700)
    expect(messagesOf(lines)).toEqual(Array.from({ length: 700 }, (_, n) => `one ${n}`))
    expect(talker.receiver.received[0]!.body.split('\n').length).toBeLessThanOrEqual(501)
    await until(async () => ((await talker.stateOf(id)).delivered === 700 ? true : undefined), { what: 'the count' })
  })

  fullTest('a receiver that never answers does not hold up the app or its log, and what the log loses is counted', async () => {
    const hanging = await startSyslogReceiver()
    hanging.is_hanging = true
    const { id } = await talker.addHttp({ address: `http://127.0.0.1:${hanging.port}/` })
    await talker.say('first')
    await talker.untilAdvanced(
      async () => {
        return (await talker.stateOf(id)).last_error?.message === 'There was no response in time.' ? true : undefined
      },
      'an attempt that timed out',
      15_000,
    )
    // 24 MB, of which the log keeps the last 20. The app has written all of it when it responds.
    await talker.say('loud', `?count=12000&pad=${'x'.repeat(2_000)}`)
    await talker.say('last words')
    const read = await runCommand(talker.home.handle.instance, talker.folder.path, ['logs', 'talker', '--lines', '20'])
    expect(read.out).toContain('last words')
    expect(await talker.stateOf(id)).toMatchObject({ status: 'failing', delivered: 0 })

    await talker.home.api('PATCH', `${drainsPath}/${id}`, { address: talker.receiver.url })
    // The clock stays, because a request that it made time out would be repeated.
    const lines = await until(
      () => (talker.receivedLines().some(({ message }) => message.startsWith('last words')) ? talker.receivedLines() : undefined),
      {
        what: 'the last line',
      },
    )
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
    await until(async () => ((await talker.stateOf(id)).delivered === lines.length ? true : undefined), { what: 'the count' })
    expect(await talker.stateOf(id)).toMatchObject({ status: 'delivering', dropped, last_dropped_at: expect.any(String) })
    await hanging.close()
  })
})

describe('HTTP, when the receiver refuses', () => {
  test('a request that is too large is sent in smaller ones', async () => {
    const { id } = await talker.addHttp()
    talker.receiver.statuses.push(413, 413)
    await talker.say('large', '?count=400')
    await talker.waitForLines(() => talker.receiver.received.length >= 5)
    const sizes = talker.receiver.received.map(({ body }) => linesOf(body).length)
    expect(sizes.slice(0, 3)).toEqual([400, 200, 100])
    await until(async () => ((await talker.stateOf(id)).delivered === 400 ? true : undefined), { what: 'the count' })
    expect(messagesOf(talker.receiver.received.slice(2).flatMap(({ body }) => linesOf(body)))).toEqual(
      Array.from({ length: 400 }, (_, n) => `large ${n}`),
    )
    expect(await talker.stateOf(id)).toMatchObject({ dropped: 0 })
  })

  test('a single line that it refuses is dropped and counted, and the next ones arrive', async () => {
    const { id } = await talker.addHttp()
    talker.receiver.statuses.push(400, 400)
    await talker.say('poison')
    await talker.untilAdvanced(async () => {
      return (await talker.stateOf(id)).dropped === 1 ? true : undefined
    }, 'the dropped line')
    talker.receiver.received.splice(0)
    await talker.say('good')
    const lines = await talker.waitForLines((all) => all.some(({ message }) => message.startsWith('good')))
    expect(lines).toMatchObject([{ source: 'homeport', dropped: 1 }, { source: 'app' }])
    expect(await talker.stateOf(id)).toMatchObject({ status: 'delivering', dropped: 1 })
  })
})

test('environments: a drain of previews gets nothing of production', async () => {
  const { id } = await talker.addHttp({ environments: 'previews' })
  const all = await talker.addHttp()
  await talker.say('of production')
  await talker.waitForLines((lines) => lines.length === 1)
  await until(async () => ((await talker.stateOf(all.id)).delivered === 1 ? true : undefined), { what: 'the other drain' })
  expect(talker.receiver.received.map(({ headers }) => headers['homeport-drain'])).toEqual([all.id])
  expect(await talker.stateOf(id)).toMatchObject({ status: 'waiting', delivered: 0, dropped: 0 })
})

test('a drain that is turned off and on begins with the next line', async () => {
  const { id } = await talker.addHttp()
  await talker.home.api('PATCH', `${drainsPath}/${id}`, { is_enabled: false })
  // Another drain shows that the line has been read.
  const other = await talker.addHttp()
  await talker.say('while it is off')
  await talker.waitForLines((lines) => lines.length > 0)
  await talker.home.api('DELETE', `${drainsPath}/${other.id}`)
  talker.receiver.received.splice(0)
  await talker.home.api('PATCH', `${drainsPath}/${id}`, { is_enabled: true })
  await talker.say('while it is on')
  expect(messagesOf(await talker.waitForLines((lines) => lines.length > 0))).toEqual(['while it is on'])
})

test('a test line says what is wrong', async () => {
  const { id } = await talker.addHttp({ address: 'http://127.0.0.1:1/' })
  const send = async () => (await talker.home.api<{ error: string | null; status: number | null }>('POST', `${drainsPath}/${id}/test`)).body
  expect(await send()).toMatchObject({ error: 'The connection was refused (ECONNREFUSED).', status: null })
  await talker.home.api('PATCH', `${drainsPath}/${id}`, { address: talker.receiver.url })
  talker.receiver.statuses.push(401)
  expect(await send()).toMatchObject({ error: 'The response has the status 401.', status: 401 })
  expect(await send()).toMatchObject({ error: null, status: 200 })
  expect(linesOf(talker.receiver.received[1]!.body)).toMatchObject([{ source: 'homeport', message: 'Test line from Homeport.', project: 'talker' }])
})

fullTest('a kill loses nothing: what was not delivered is sent after the restart', async () => {
  const { id } = await talker.addHttp()
  talker.receiver.statuses.push(...Array.from({ length: 100 }, () => 503))
  await talker.say('before the kill')
  await talker.untilAdvanced(async () => {
    return (await talker.stateOf(id)).status === 'failing' ? true : undefined
  }, 'a failed attempt')
  await talker.restart(() => {
    talker.receiver.received.splice(0)
    talker.receiver.statuses.splice(0)
  })
  await until(async () => ((await talker.home.fetchEdge('talker.localhost', '/after')).body === 'said' ? true : undefined), { what: 'the app' })
  const lines = await talker.waitForLines((all) => all.some(({ message }) => message.startsWith('after')))
  expect(messagesOf(lines).filter((message) => ['before the kill', 'after'].includes(message))).toEqual(['before the kill', 'after'])
})
