import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request, type IncomingMessage, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Remote } from '../../server/contract/remotes.ts'
import { allOperations } from '../../server/contract/index.ts'
import { readEventStream } from '../support/event-stream.ts'
import { fullTest } from '../support/full-test.ts'
import { type HostileRemote, jsonResponder, startHostileRemote } from '../support/hostile-remote.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { requires } from '../support/requirements.ts'
import { until } from '../support/until.ts'
import { addRemote, sendRequest, expectSandboxed, expectUnreachable, hostileToken as token } from './proxy-requests.ts'

/* T11: streams, screenshots and files of another instance, and uploads to it. */

let platform: TestPlatform
let remote: HostileRemote
let known: Remote & { base: string }

beforeAll(async () => {
  ;[platform, remote] = await Promise.all([startTestPlatform({ runtime: 'process' }), startHostileRemote()])
  known = await addRemote(platform, remote.url, token)
})
afterEach(() => remote.respondWith())
afterAll(() => Promise.all([platform?.remove(), remote?.close()]))

const get = (path: string) => sendRequest(platform, 'GET', known.base + path)

describe('a stream', () => {
  const path = '/v1/projects/abc/runtime-logs'
  const follow = (events: string | ((res: ServerResponse) => unknown), type = 'text/event-stream') =>
    remote.respondWith((res) => {
      res.writeHead(200, { 'content-type': type, 'set-cookie': 'a=b' })
      if (typeof events === 'string') res.end(events)
      else void events(res)
    })
  async function all(query = '') {
    const events = []
    for await (const event of readEventStream(`${platform.handle.api_url}${known.base}${path}${query}`, platform.handle.instance)) events.push(event)
    return events
  }

  test('contains only events of the contract, rebuilt', async () => {
    const at = '2026-01-31T12:00:00.000Z'
    const log = { seq: 1, at, stream: 'stdout', line: `<script>\u0000 ${token}` }
    follow(
      [
        ': a comment',
        `id: 1\nevent: log\ndata: ${JSON.stringify({ ...log, surplus: 1 })}\n`,
        'event: evil\ndata: {}\n',
        'event: __proto__\ndata: {}\n',
        'event: log\ndata: no json\n',
        'event: log\ndata: {"line":1}\n',
        'id: 2\r\ndata: one\r\ndata: two\r\n\r',
        'retry: 1',
        'data: event: status\rdata: data: {"status":"live"}\r\r',
        'event: state\n',
        `data: ${token}\n\n`,
      ].join('\n'),
    )
    const events = await all()
    expect(events.map((one) => one.event ?? 'unnamed')).not.toContain('evil')
    expect(events.filter((one) => one.event === 'status')).toEqual([])
    expect(JSON.stringify(events)).not.toContain(token)
    expect(JSON.stringify(events)).not.toContain('surplus')
    expect(events).toContainEqual({ id: '2', event: undefined, data: 'one\ntwo' })
    expect(events).toContainEqual({ id: undefined, event: undefined, data: 'event: status\ndata: {"status":"live"}' })
  })

  test('with an endless line is aborted', async () => {
    const left = Promise.withResolvers<void>()
    follow(async (res) => {
      res.setMaxListeners(0).on('close', left.resolve)
      res.write('data: first\n\ndata: ')
      while (!res.destroyed) if (!res.write('a'.repeat(2 ** 16))) await Promise.race([once(res, 'drain'), once(res, 'close')])
    })
    expect(await all()).toEqual([{ id: undefined, event: undefined, data: 'first' }])
    await left.promise
  })

  test('with an endless event is aborted', async () => {
    const left = Promise.withResolvers<void>()
    follow(async (res) => {
      res.setMaxListeners(0).on('close', left.resolve)
      while (!res.destroyed)
        if (!res.write('data: aaaaaaaaaaaaaaaaaaaaaaaaaaaa\n'.repeat(2000))) await Promise.race([once(res, 'drain'), once(res, 'close')])
    })
    expect(await all()).toEqual([])
    await left.promise
  })

  test('of another content type is refused', async () => {
    follow('<script>1</script>', 'text/html')
    expectUnreachable(await get(path), /text\/html/)
    follow('data: x\n\n', 'application/json')
    expectUnreachable(await get(path), /application\/json/)
  })

  test('that fails just ends here', async () => {
    follow((res) => res.write('data: first\n\n', () => res.destroy()))
    expect(await all()).toHaveLength(1)
    expect(platform.log.filter((line) => line.includes('stream_failed'))).toEqual([])
  })

  test('is canceled when the client disconnects', async () => {
    const left = Promise.withResolvers<void>()
    follow((res) => {
      res.on('close', left.resolve)
      res.write('data: first\n\n')
    })
    for await (const _ of readEventStream(`${platform.handle.api_url}${known.base}${path}`, platform.handle.instance)) break
    await left.promise
  })
})

describe('a screenshot or a file', () => {
  const picture = '/v1/projects/abc/deployments/dpl_1/screenshot/desktop.png'
  const dump = '/instance/projects/abc/database/dumps/dmp_1'
  const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
  const send = (type: string, bytes: string | Buffer) =>
    remote.respondWith((res) => res.writeHead(200, { 'content-type': type, 'content-disposition': 'inline; filename="x.html"' }).end(bytes))

  test('must be of its kind', async () => {
    send('image/png', png)
    const good = await get(picture)
    expect([good.status, good.headers['content-type'], good.bytes.equals(png)]).toEqual([200, 'image/png', true])
    expect(good.headers['content-disposition']).toBeUndefined()
    expectSandboxed(good.headers)
    send('image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')
    expectUnreachable(await get(picture), /image\/svg/)
    send('text/html', '<script>1</script>')
    expectUnreachable(await get(picture), /text\/html/)
    send('image/png', '<script>1</script>')
    expectUnreachable(await get(picture), /invalid image/)
  })

  test('is a download, never displayed', async () => {
    const { success } = allOperations.downloadDatabaseDump
    send(success.content_type, 'SELECT;')
    const good = await get(dump)
    expect([good.status, good.headers['content-type'], good.headers['content-disposition'], good.text]).toEqual([
      200,
      success.content_type,
      'attachment',
      'SELECT;',
    ])
    expectSandboxed(good.headers)
    send('text/html', '<script>1</script>')
    expectUnreachable(await get(dump), /text\/html/)
  })

  test('that breaks off is cut off here too', async () => {
    const { success } = allOperations.downloadDatabaseDump
    remote.respondWith((res) => {
      res.writeHead(200, { 'content-type': success.content_type, 'content-length': '100' })
      res.write('SELECT;', () => setImmediate(() => res.destroy()))
    })
    await expect(get(dump)).rejects.toThrow(/aborted|hang up|reset/i)
  })

  const uploadPath = () => `${known.base}/v1/projects/abc/upload`
  /** Responds with the number and the hash of the bytes received, and reports the number on the way. */
  const countBytes = (onBytes: (total: number) => void = () => undefined) =>
    remote.respondWith(async (res, req) => {
      const hash = createHash('sha256')
      let bytes = 0
      for await (const chunk of req as AsyncIterable<Buffer>) {
        hash.update(chunk)
        onBytes((bytes += chunk.length))
      }
      jsonResponder({ error: 'invalid_archive', message: `${bytes} ${hash.digest('hex')}` }, 400)(res)
    })
  const describeBytes = (piece: Buffer, pieces: number) => {
    const hash = createHash('sha256')
    for (let i = 0; i < pieces; i++) hash.update(piece)
    return { error: 'invalid_archive', message: `${pieces * piece.length} ${hash.digest('hex')}` }
  }

  test('is streamed there: each part arrives before the next one is sent', async () => {
    const piece = randomBytes(2 ** 20)
    let received = 0
    countBytes((total) => (received = total))
    async function* inTurn() {
      for (let sent = 0; sent < 8; sent++) {
        await until(() => received === sent * piece.length || undefined, { what: `part ${sent} to arrive` })
        yield piece
      }
    }
    expect(await upload(uploadPath(), inTurn(), 8 * piece.length)).toMatchObject(describeBytes(piece, 8))
  })

  // Only in the full tier is the heap of the platform limited, as a user's is. Without a limit, garbage may pile up beyond any bound.
  if (requires('linux').ok)
    fullTest('only what is in flight is buffered', async () => {
      const [piece, size] = [randomBytes(2 ** 20), 100]
      const send = (pieces: number) =>
        upload(
          uploadPath(),
          Array.from({ length: pieces }, () => piece),
          pieces * piece.length,
        )
      countBytes()
      // The first file allocates memory that the process keeps: code, pools, sockets.
      await send(32)
      const before = peakMemory_mb()
      expect(await send(size)).toMatchObject(describeBytes(piece, size))
      expect(peakMemory_mb() - before).toBeLessThan(48)
    })

  test('that is refused midway is refused here with the same error', async () => {
    remote.respondWith(jsonResponder({ error: 'invalid_archive', message: 'No.' }, 400))
    const pieces = Array.from({ length: 8 }, () => randomBytes(2 ** 20))
    expect(await upload(uploadPath(), pieces, 8 * 2 ** 20)).toMatchObject({ error: 'invalid_archive' })
    const tooLarge = await sendRequest(platform, 'POST', uploadPath(), {
      headers: { 'content-length': String(2 ** 40), 'content-type': 'application/zip' },
    }).catch(() => undefined)
    if (tooLarge) expect([tooLarge.status, tooLarge.body.error]).toEqual([413, 'payload_too_large'])
  })

  /** The peak memory of the platform's process. */
  const peakMemory_mb = () => Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${platform.pid}/status`, 'utf8'))?.[1]) / 1024

  /** At the pace at which it is read. */
  async function upload(path: string, parts: Iterable<Buffer> | AsyncIterable<Buffer>, bytes: number): Promise<unknown> {
    const { hostname, port } = new URL(platform.handle.api_url)
    const headers = {
      authorization: `Bearer ${platform.handle.instance.token}`,
      'content-type': 'application/zip',
      'content-length': String(bytes),
      connection: 'keep-alive',
    }
    const question = request({ host: hostname, port, method: 'POST', path, agent: false, headers })
    const answered = once(question, 'response') as Promise<[IncomingMessage]>
    await pipeline(Readable.from(parts), question)
    const [response] = await answered
    return json(response)
  }
})
