/** Additional listeners of the edge, for the local network: one host each, whatever the machine is called there. */
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { get, routeOwner, sendRaw, startApp, startEdge, startRawApp, type TestEdge } from '../support/edge.ts'
import { until } from '../support/until.ts'

const cookie = 'homeport_0123456789ab'
const closers: (() => Promise<unknown>)[] = []
let edge: TestEdge
beforeEach(async () => {
  edge = await startEdge({ private_cookie: cookie })
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
  await edge.close()
})

/** An app that returns the request it received, a host for it, and a listener for that host. */
async function openFor(name: string) {
  const app = await startApp((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ name, headers: request.headers, body: Buffer.concat(parts).toString() }))
    })
  })
  closers.push(app.close)
  await edge.routeToPort(app.port, `${name}.localhost`)
  return edge.edge.listenOnNetwork({ address: '127.0.0.1', port: 0, as: `${name}.localhost` })
}

const seen = (text: string) => JSON.parse(text) as { name: string; headers: Record<string, string>; body: string }

describe('a listener for one project', () => {
  test.each(['10.0.0.7:4780', '[fd00::2]:4780', 'laptop', 'two.localhost:80', 'laptop.local:4780', 'laptop.home.arpa'])(
    'Host %s is served by its app, which receives it unchanged',
    async (host) => {
      const [one] = [await openFor('one'), await openFor('two')]
      const answer = seen((await get(one.port, '/', { host })).text)
      expect(answer).toMatchObject({ name: 'one', headers: { host, 'x-forwarded-host': host, 'x-forwarded-for': '127.0.0.1' } })
    },
  )

  test('a public hostname is served only by the project that has it, because a page of another site may point here', async () => {
    const { port } = await openFor('one')
    for (const host of ['evil.example', 'app.evil.example:4780', '10.0.0.7.nip.io', 'evil.localhost.example', 'local.evil'])
      expect([host, (await get(port, '/', { host })).status]).toEqual([host, 404])
    const app = await startApp((_, response) => response.end('by its own name'))
    closers.push(app.close)
    await edge.routeToPort(app.port, 'shop.example')
    expect((await get(port, '/', { host: 'shop.example' })).text).toBe('by its own name')
  })

  test('an invalid Host is refused as on any listener', async () => {
    const { port } = await openFor('one')
    for (const head of ['GET / HTTP/1.1\r\n', 'GET / HTTP/1.1\r\nHost: a b\r\n', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n'])
      expect((await sendRaw(port, `${head}Connection: close\r\n\r\n`)).text).toMatch(/^HTTP\/1\.1 400 /)
  })

  test('all requests of a connection are for it, pipelined and with bodies', async () => {
    await openFor('two')
    const { port } = await openFor('one')
    const { text } = await sendRaw(
      port,
      'POST / HTTP/1.1\r\nHost: two.localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n' +
        'GET / HTTP/1.1\r\nHost: one.localhost\r\n\r\n' +
        'GET / HTTP/1.1\r\nHost: two.localhost\r\nConnection: close\r\n\r\n',
    )
    expect([...text.matchAll(/"name":"(\w+)"/g)].map((match) => match[1])).toEqual(['one', 'one', 'one'])
    expect(text).toContain('"body":"hello"')
  })

  test('404 without a route, and served once it has one', async () => {
    const { port } = await edge.edge.listenOnNetwork({ address: '127.0.0.1', port: 0, as: 'later.localhost' })
    expect((await get(port, '/', { host: 'app.localhost' })).status).toBe(404)
    await edge.edge.setRoute('later.localhost', { ...routeOwner, kind: 'page', page: 'building' })
    expect((await get(port, '/')).status).toBe(503)
  })

  test('WebSockets connect', async () => {
    const app = await startRawApp((socket) => {
      socket.once('data', (head: Buffer) => {
        const isHidden = !head.toString().includes(cookie)
        socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n${isHidden ? 'ready' : 'a cookie!'}`)
        socket.on('data', (bytes) => socket.write(bytes))
      })
    })
    closers.push(app.close)
    await edge.routeToPort(app.port, 'talk.localhost')
    const { port } = await edge.edge.listenOnNetwork({ address: '127.0.0.1', port: 0, as: 'talk.localhost' })
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (bytes: Buffer) => (text += bytes.toString()))
    socket.write(`GET / HTTP/1.1\r\nHost: 10.0.0.7\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nCookie: ${cookie}=secret\r\n\r\n`)
    await until(() => (text.endsWith('ready') ? true : undefined), { what: 'the upgrade' })
    socket.write('echo')
    await until(() => (text.endsWith('readyecho') ? true : undefined), { what: 'the echo' })
    socket.destroy()
  })
})

describe('a cookie of the platform', () => {
  test.each([
    [`${cookie}=x`, undefined],
    [`a=1; ${cookie}=x; b=2`, 'a=1; b=2'],
    [`${cookie}=x; a=1`, 'a=1'],
    [`a=1;${cookie}=x`, 'a=1'],
    [`a=1; ${cookie} =x`, 'a=1'],
    [`a=1; ${cookie}`, 'a=1'],
    [`${cookie}=x; ${cookie}="y"`, undefined],
    [`not_${cookie}=1; ${cookie}_not=2`, `not_${cookie}=1; ${cookie}_not=2`],
    [`a=${cookie}`, `a=${cookie}`],
  ])('%j reaches no app: it gets %j', async (sent, got) => {
    const { port } = await openFor('one')
    expect(seen((await get(port, '/', { headers: { cookie: sent } })).text).headers.cookie).toBe(got)
    // Without a hostname, at a network address that also serves the dashboard.
    const open = await edge.edge.listenOnNetwork({ address: '127.0.0.1', port: 0 })
    expect(seen((await get(open.port, '/', { host: 'one.localhost', headers: { cookie: sent } })).text).headers.cookie).toBe(got)
  })

  test('is removed from several Cookie headers too', async () => {
    const { port } = await openFor('one')
    const { text } = await sendRaw(
      port,
      `GET / HTTP/1.1\r\nHost: a\r\ncookie: a=1\r\nCOOKIE: ${cookie}=x\r\nCookie: b=2\r\nConnection: close\r\n\r\n`,
    )
    expect(text).not.toContain(cookie)
    expect(text).toContain('a=1; b=2')
  })
})

describe('the cache', () => {
  const project = 'prj_test'
  const here = '10.0.0.7:4780'

  async function openCached() {
    await edge.close()
    edge = await startEdge({ private_cookie: cookie, cache: { directory: null, memory_bytes: () => 10_000_000, disk_bytes: () => 0 } })
    let count = 0
    const app = await startApp((request, response) => {
      response.setHeader('cache-control', 'public, max-age=60')
      response.setHeader('surrogate-key', 'all')
      response.end(`${++count} for ${request.headers.host} with ${request.headers.cookie}`)
    })
    closers.push(app.close)
    await edge.routeToPort(app.port)
    const { port } = await edge.edge.listenOnNetwork({ address: '127.0.0.1', port: 0, as: 'app.localhost' })
    return async (host: string, more: { method?: string; headers?: Record<string, string> } = {}) => {
      const { text, headers } = await get(host === here ? port : edge.port, '/page', { host, ...more })
      return `${text} ${String(headers['x-cache'])}`
    }
  }

  test('does not serve the response for one host to another', async () => {
    const ask = await openCached()
    expect(await ask(here)).toBe(`1 for ${here} with undefined MISS`)
    expect(await ask('app.localhost')).toBe('2 for app.localhost with undefined MISS')
    expect(await ask(here, { headers: { cookie: `${cookie}=secret` } })).toBe(`1 for ${here} with undefined HIT`)
    expect(await ask('app.localhost')).toBe('2 for app.localhost with undefined HIT')
  })

  test.each([
    ['all', { all: true }],
    ['a tag', { tags: ['all'] }],
    ['its path', { urls: ['/page'] }],
    ['its address with a host name', { urls: ['http://app.localhost:4680/page'] }],
  ] as const)('a purge of %s also purges the copies for the network', async (_, scope) => {
    const ask = await openCached()
    await ask(here)
    await ask('app.localhost')
    expect(await edge.edge.cache.purge(project, scope)).toBe(2)
    expect(await ask(here)).toMatch(/^3 .* MISS$/)
    expect(await ask('app.localhost')).toMatch(/^4 .* MISS$/)
  })

  test('a change under one host invalidates it for all', async () => {
    const ask = await openCached()
    await ask(here)
    await ask('app.localhost', { method: 'POST' })
    expect(await ask(here)).toMatch(/^3 .* MISS$/)
    await ask(here, { method: 'POST' })
    await ask('app.localhost')
    await ask(here, { method: 'POST' })
    expect(await ask('app.localhost')).toMatch(/MISS$/)
  })
})

describe('closing a listener', () => {
  test('cuts open connections, idle or active, and leaves the main listener alone', async () => {
    const app = await startApp((_, response) => void response.write('forever'))
    closers.push(app.close)
    await edge.routeToPort(app.port)
    const { port, close } = await edge.edge.listenOnNetwork({ address: '127.0.0.1', port: 0, as: 'app.localhost' })
    const idle = connect(port, '127.0.0.1')
    const idleGone = new Promise((resolve) => idle.on('error', () => {}).on('close', resolve))
    const streaming = connect(port, '127.0.0.1')
    const streamGone = new Promise((resolve) => streaming.on('error', () => {}).on('close', resolve))
    streaming.write('GET / HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
    await new Promise((resolve) => streaming.once('data', resolve))
    await close()
    await Promise.all([idleGone, streamGone])
    await expect(get(port, '/')).rejects.toThrow('ECONNREFUSED')
    const main = connect(edge.port, '127.0.0.1')
    main.write('GET / HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
    expect(String(await new Promise((resolve) => main.once('data', resolve)))).toMatch(/^HTTP\/1\.1 200 /)
    main.destroy()
  })

  test('a taken port is reported, without trying others', async () => {
    await expect(edge.edge.listenOnNetwork({ address: '127.0.0.1', port: edge.port })).rejects.toThrow('EADDRINUSE')
  })

  test('closing the edge closes all listeners', async () => {
    const { port } = await openFor('one')
    await edge.close()
    await expect(get(port, '/')).rejects.toThrow('ECONNREFUSED')
    edge = await startEdge()
  })
})
