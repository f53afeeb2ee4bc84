import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Problem } from '../../server/contract/errors.ts'
import { createRemoteClient, type RemoteClient } from '../../server/remotes/remote-client.ts'
import { type HostileRemote, jsonResponder, startHostileRemote } from '../support/hostile-remote.ts'
import { fixedClock, type TestClock } from '../support/test-clock.ts'
import { createTestAuthority } from '../support/tls.ts'

/* Connections to other instances: hostnames, certificates and timeouts. */

const token = 'svc_token-of-this-test'
let remote: HostileRemote
let clock: TestClock

beforeAll(async () => {
  remote = await startHostileRemote()
})
beforeEach(() => {
  clock = fixedClock(0)
})
afterEach(() => remote.respondWith())
afterAll(() => remote?.close())

const problemOf = async (remotes: RemoteClient, origin: string) =>
  remotes.probe({ origin, token }).then(
    () => undefined,
    (error: Problem) => ({ code: error.code, message: error.message }),
  )
/** Resolves names to these addresses, one after the other. */
const resolverTo = (...addresses: string[]) => {
  let lookups = 0
  return createRemoteClient({
    isOwn: () => false,
    clock,
    resolve: (_name, _options, callback) => callback(null, [{ address: addresses[Math.min(lookups++, addresses.length - 1)] ?? '', family: 4 }]),
  })
}
const named = (name: string) => remote.url.replace('127.0.0.1', name)

describe('a hostname', () => {
  test('over http:// may resolve only to this machine or its local network', async () => {
    expect(await problemOf(resolverTo('127.0.0.1'), named('nas.example.com'))).toBeUndefined()
    const before = remote.connections()
    expect(await problemOf(resolverTo('93.184.216.34'), named('public.example.com'))).toEqual({
      code: 'remote_unreachable',
      message: expect.stringMatching(/^public\.example\.com is not on this machine .* unencrypted\. Use https:\/\/\.$/),
    })
    expect(remote.connections()).toBe(before)
  })

  test('that later resolves elsewhere is not followed there', async () => {
    const remotes = resolverTo('127.0.0.1', '93.184.216.34')
    remote.respondWith((res, req) => {
      req.socket.once('close', () => {})
      res.shouldKeepAlive = false
      jsonResponder({ projects: [], next_cursor: null })(res)
    })
    expect(await problemOf(remotes, named('rebinding.example.com'))).toBeUndefined()
    expect(await problemOf(remotes, named('rebinding.example.com'))).toMatchObject({ message: expect.stringContaining('unencrypted') })
  })

  test('below localhost is this machine, whatever the resolver says', async () => {
    const remotes = createRemoteClient({ isOwn: () => false, clock })
    expect(await problemOf(remotes, named('other.localhost'))).toBeUndefined()
  })

  // Not with this machine's resolver, which may take longer than any timeout.
  test.each([
    ['ENOTFOUND', /^nowhere\.invalid:1 .*could not be found/],
    ['EAI_AGAIN', /^nowhere\.invalid:1 .*name server/],
  ])('that does not resolve is reported: %s', async (code, message) => {
    const remotes = createRemoteClient({
      isOwn: () => false,
      clock,
      resolve: (_name, _options, callback) => setImmediate(callback, Object.assign(new Error(code), { code }), []),
    })
    expect(await problemOf(remotes, 'http://nowhere.invalid:1')).toMatchObject({
      code: 'remote_unreachable',
      message: expect.stringMatching(message),
    })
  })
})

describe('a certificate', () => {
  let signed: HostileRemote
  let foreign: HostileRemote
  let misnamed: HostileRemote

  beforeAll(async () => {
    const [known, unknown] = [createTestAuthority('known'), createTestAuthority('unknown')]
    const identity = async (authority: typeof known, host: string) => {
      const { key, certificate } = await authority.identityFor(host)
      return { key, cert: certificate }
    }
    setDefaultCACertificates([...getCACertificates('default'), (await known.ensure()).certificate])
    ;[signed, foreign, misnamed] = await Promise.all([
      startHostileRemote(await identity(known, '127.0.0.1')),
      startHostileRemote(await identity(unknown, '127.0.0.1')),
      startHostileRemote(await identity(known, 'other.localhost')),
    ])
  })
  afterAll(() => Promise.all([signed?.close(), foreign?.close(), misnamed?.close()]))
  const remotes = createRemoteClient({ isOwn: () => false, clock: fixedClock(0) })

  test('of a trusted authority is accepted', async () => {
    expect(await problemOf(remotes, signed.url)).toBeUndefined()
    expect(signed.requests).toHaveLength(1)
  })

  test('of another authority is refused, and the token is not sent', async () => {
    expect(await problemOf(remotes, foreign.url)).toEqual({
      code: 'remote_unreachable',
      message: expect.stringMatching(/does not trust.*NODE_EXTRA_CA_CERTS/),
    })
    expect(foreign.requests).toEqual([])
  })

  test('for another host is refused, and the token is not sent', async () => {
    expect(await problemOf(remotes, misnamed.url)).toMatchObject({ message: expect.stringContaining('a certificate for another name') })
    expect(misnamed.requests).toEqual([])
  })

  test('mismatched protocols are reported, in both directions', async () => {
    expect(await problemOf(remotes, remote.url.replace('http:', 'https:'))).toMatchObject({
      message: expect.stringContaining('did not answer with valid HTTPS'),
    })
    expect(await problemOf(remotes, signed.url.replace('https:', 'http:'))).toMatchObject({ code: 'remote_unreachable' })
  })
})

describe('timeouts', () => {
  const forward = (operation: 'listProjects' | 'streamRuntimeLog' | 'createProject', remotes = createRemoteClient({ isOwn: () => false, clock })) =>
    remotes.forward(
      { id: 'rem_1', origin: remote.url, token },
      { operation, params: { slug: 'abc' }, query: new URLSearchParams(), headers: {}, body: undefined, signal: new AbortController().signal },
    )
  /** The remote's behavior for a request; resolves once it has received one. */
  const startRequest = (how: (res: ServerResponse) => unknown = () => {}) =>
    new Promise<ServerResponse>((resolve) =>
      remote.respondWith((res) => {
        how(res)
        resolve(res)
      }),
    )
  const inTime = { code: 'remote_unreachable', message: expect.stringContaining('in time') }
  /** The events of a stream in order: `next` waits for one, and returns undefined at the end. */
  async function follow() {
    const { body } = await forward('streamRuntimeLog')
    if (body.kind !== 'events') throw new Error('no stream of events')
    const events = body.events[Symbol.asyncIterator]()
    return { next: async () => (await events.next()).value?.data }
  }

  test('apply to a port that accepts connections and never responds', async () => {
    const silent = createServer()
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const connected = once(silent, 'connection')
    const { port } = silent.address() as AddressInfo
    const failed = problemOf(createRemoteClient({ isOwn: () => false, clock }), `http://127.0.0.1:${port}`)
    const [socket] = (await connected) as [Socket]
    await once(socket, 'readable')
    await clock.advance(15_000)
    expect(await failed).toMatchObject(inTime)
    socket.destroy()
    silent.close()
  })

  test.each<[string, 'createProject' | 'listProjects', how?: (res: ServerResponse) => unknown, again?: (res: ServerResponse) => unknown]>([
    ['an instance that does not respond', 'createProject'],
    ['one that sends headers but no body', 'listProjects', undefined, (res) => res.writeProcessing()],
    ['one that stops midway', 'listProjects', (res) => res.writeHead(200, { 'content-type': 'application/json' }).write('{"projects":')],
  ])('apply to %s', async (_name, operation, how, again) => {
    const question = startRequest(how)
    let isOver = false
    const failed = expect(forward(operation))
      .rejects.toMatchObject(inTime)
      .finally(() => (isOver = true))
    const res = await question
    for (let seconds = 0; !isOver && seconds < 300; seconds++) {
      again?.(res)
      await clock.advance(1_000)
    }
    await failed
  })

  test('apply to a silent stream, and not to an active one', async () => {
    const question = startRequest((res) => res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 0\n\n'))
    const events = await follow()
    const res = await question
    expect(await events.next()).toBe('0')
    // Longer in total than the timeout, in short steps.
    for (let beat = 1; beat <= 6; beat++) {
      await clock.advance(40_000)
      res.write(`data: ${beat}\n\n`)
      expect(await events.next()).toBe(String(beat))
    }
    const end = events.next()
    await clock.advance(90_000)
    expect(await end).toBeUndefined()
  })

  test('do not count time in which this process was suspended', async () => {
    const question = startRequest((res) => res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: first\n\n'))
    const events = await follow()
    const res = await question
    expect(await events.next()).toBe('first')
    const last = events.next()
    res.end('data: last\n\n')
    // Every timer that fell due meanwhile runs before received data is read.
    await clock.jump(600_000)
    expect(await last).toBe('last')
    expect(await events.next()).toBeUndefined()
  })

  test('a removed instance ends its requests', async () => {
    const question = startRequest()
    const remotes = createRemoteClient({ isOwn: () => false, clock })
    const failed = expect(forward('createProject', remotes)).rejects.toMatchObject({ code: 'remote_not_found' })
    await question
    remotes.abortAll('rem_1')
    await failed
  })
})
