import { createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Problem } from '../../server/contract/errors.ts'
import { createRemotes, type Remotes } from '../../server/remote/remotes.ts'
import { type HostileRemote, sayJson, startHostileRemote } from '../support/hostile-remote.ts'
import { createTestAuthority } from '../support/tls.ts'

/* The way to another instance: names, certificates and time. */

const token = 'svc_token-of-this-test'
const short = { probe_ms: 1_500, read_ms: 1_500, change_ms: 1_500, idle_ms: 1_500, stream_idle_ms: 1_500 }
let remote: HostileRemote

beforeAll(async () => {
  remote = await startHostileRemote()
})
afterEach(() => remote.say())
afterAll(() => remote?.close())

const problemOf = async (remotes: Remotes, origin: string) =>
  remotes.probe({ origin, token }).then(
    () => undefined,
    (error: Problem) => ({ code: error.code, message: error.message }),
  )
/** As if names led to these addresses, one after the other. */
const leadingTo = (...addresses: string[]) => {
  let asked = 0
  return createRemotes({
    isOwn: () => false,
    resolve: (_name, _options, callback) => callback(null, [{ address: addresses[Math.min(asked++, addresses.length - 1)] ?? '', family: 4 }]),
  })
}
const named = (name: string) => remote.url.replace('127.0.0.1', name)

describe('a name', () => {
  test('over http:// leads to this machine or the network around it', async () => {
    expect(await problemOf(leadingTo('127.0.0.1'), named('nas.example.com'))).toBeUndefined()
    const before = remote.connections()
    expect(await problemOf(leadingTo('93.184.216.34'), named('public.example.com'))).toEqual({
      code: 'remote_unreachable',
      message: expect.stringMatching(/^public\.example\.com is not on this machine .* in the clear\. Use https:\/\/\.$/),
    })
    expect(remote.connections()).toBe(before)
  })

  test('that leads elsewhere the next time is not followed there', async () => {
    const remotes = leadingTo('127.0.0.1', '93.184.216.34')
    remote.say((res, req) => {
      req.socket.once('close', () => {})
      res.shouldKeepAlive = false
      sayJson({ projects: [], next_cursor: null })(res)
    })
    expect(await problemOf(remotes, named('rebinding.example.com'))).toBeUndefined()
    expect(await problemOf(remotes, named('rebinding.example.com'))).toMatchObject({ message: expect.stringContaining('in the clear') })
  })

  test('below localhost is this machine, whatever the resolver knows', async () => {
    const remotes = createRemotes({ isOwn: () => false })
    expect(await problemOf(remotes, named('other.localhost'))).toBeUndefined()
  })

  // Not by this machine's own name server, which may take longer than anybody's patience.
  test.each([
    ['ENOTFOUND', /^nowhere\.invalid:1 .*leads nowhere/],
    ['EAI_AGAIN', /^nowhere\.invalid:1 .*name server/],
  ])('that leads nowhere says so: %s', async (code, message) => {
    const remotes = createRemotes({
      isOwn: () => false,
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
    const identity = async (desk: typeof known, host: string) => {
      const { key, certificate } = await desk.identityFor(host)
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
  const remotes = createRemotes({ isOwn: () => false })

  test('of an authority that is trusted is taken', async () => {
    expect(await problemOf(remotes, signed.url)).toBeUndefined()
    expect(signed.requests).toHaveLength(1)
  })

  test('of another is not, and the token is not sent', async () => {
    expect(await problemOf(remotes, foreign.url)).toEqual({
      code: 'remote_unreachable',
      message: expect.stringMatching(/does not trust.*NODE_EXTRA_CA_CERTS/),
    })
    expect(foreign.requests).toEqual([])
  })

  test('for another name is not, and the token is not sent', async () => {
    expect(await problemOf(remotes, misnamed.url)).toMatchObject({ message: expect.stringContaining('a certificate for another name') })
    expect(misnamed.requests).toEqual([])
  })

  test('is asked of who speaks HTTP alone, and the other way round', async () => {
    expect(await problemOf(remotes, remote.url.replace('http:', 'https:'))).toMatchObject({
      message: expect.stringContaining('does not speak HTTPS'),
    })
    expect(await problemOf(remotes, signed.url.replace('https:', 'http:'))).toMatchObject({ code: 'remote_unreachable' })
  })
})

describe('time', () => {
  let silent: Server
  const sockets = new Set<Socket>()
  const remotes = createRemotes({ isOwn: () => false, patience: short })
  const forward = (operation: 'listProjects' | 'streamRuntimeLog' | 'createProject') =>
    remotes.forward(
      { id: 'rem_1', origin: remote.url, token },
      {
        operation,
        params: { slug: 'abc' },
        query: new URLSearchParams(),
        headers: {},
        body: undefined,
        signal: new AbortController().signal,
      },
    )

  beforeAll(async () => {
    silent = createServer((socket) => void sockets.add(socket.on('error', () => {})))
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => {
    for (const socket of sockets) socket.destroy()
    silent.close()
  })

  test('has an end for who never answers', async () => {
    const { port } = silent.address() as AddressInfo
    expect(await problemOf(remotes, `http://127.0.0.1:${port}`)).toMatchObject({
      code: 'remote_unreachable',
      message: expect.stringContaining('in time'),
    })
    remote.say(() => {})
    await expect(forward('createProject')).rejects.toMatchObject({ code: 'remote_unreachable' })
  })

  test('has one for who announces answers and gives none', async () => {
    remote.say((res) => {
      const drip = setInterval(() => res.writeProcessing(), 20)
      res.once('close', () => clearInterval(drip))
    })
    await expect(forward('listProjects')).rejects.toMatchObject({ message: expect.stringContaining('in time') })
  })

  test('has one for who stops in the middle', async () => {
    remote.say((res) => res.writeHead(200, { 'content-type': 'application/json' }).write('{"projects":'))
    await expect(forward('listProjects')).rejects.toMatchObject({ message: expect.stringContaining('in time') })
  })

  test('has one for a stream without a sign of life, and none for one with', async () => {
    const follow = async (lives: boolean) => {
      remote.say((res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: first\n\n')
        // Longer in all than the patience, in short steps.
        const beats = Array.from({ length: 20 }, (_, beat) =>
          setTimeout(() => res.write(beat === 19 ? 'data: last\n\n' : ':\n\n'), lives ? 100 * beat : 60_000),
        )
        res.once('close', () => beats.forEach(clearTimeout))
      })
      const { body } = await forward('streamRuntimeLog')
      const events: unknown[] = []
      if (body.kind === 'events')
        for await (const event of body.events) {
          events.push(event.data)
          if (event.data === 'last') break
        }
      return events
    }
    expect(await follow(false)).toEqual(['first'])
    expect(await follow(true)).toEqual(['first', 'last'])
  })

  test('in which we were held up ourselves is no silence of the other side', async () => {
    remote.say((res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: first\n\n')
      setTimeout(() => {
        res.write('data: second\n\n')
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * short.stream_idle_ms)
        setTimeout(() => res.end('data: last\n\n'), 100)
      }, 100)
    })
    const { body } = await forward('streamRuntimeLog')
    const events: unknown[] = []
    if (body.kind === 'events') for await (const event of body.events) events.push(event.data)
    expect(events).toEqual(['first', 'second', 'last'])
  })

  test('ends when the instance is removed', async () => {
    remote.say(() => {})
    const asked = forward('createProject')
    asked.catch(() => {})
    remotes.endAll('rem_1')
    await expect(asked).rejects.toMatchObject({ code: 'remote_not_found' })
  })
})
