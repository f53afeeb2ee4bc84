import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { Route } from '../../server/edge/server.ts'
import { get, routeOwner, edgePaths, startApp, startEdge, startRawApp, type ListeningServer, type TestEdge } from '../support/edge.ts'
import { until } from '../support/until.ts'

const host = 'app.localhost'

/** An app that answers until it is frozen. Then its connections stay open, and no new one is accepted, as on a machine without power. */
async function startFrozenApp() {
  const script = `require('node:http').createServer((request, response) => response.setHeader('x-replica', 'frozen').end())
    .listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () { process.send(this.address().port) })`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const [port] = (await once(child, 'message')) as [number]
  const waiting: Socket[] = []
  return {
    port,
    async freeze() {
      child.kill('SIGSTOP')
      // The first ones fill the queue of the listener, after which the system ignores further ones.
      for (let i = 0; i < 16; i++) waiting.push(connect(port, '127.0.0.1').on('error', () => {}))
      await once(waiting[0]!, 'connect')
    },
    end() {
      child.kill('SIGKILL')
      for (const socket of waiting) socket.destroy()
    },
  }
}

describe.each(edgePaths)('an app with several replicas, $name', ({ fast_path }) => {
  let edge: TestEdge
  let apps: ListeningServer<Server>[]
  let held: ServerResponse[]

  beforeEach(async () => {
    held = []
    apps = await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        startApp((request, response) => {
          response.setHeader('x-replica', name)
          if (request.url === '/held') return void held.push(response)
          request.pipe(response)
        }),
      ),
    )
    edge = await startEdge({ fast_path })
  })
  afterEach(async () => {
    await edge.close()
    await Promise.all(apps.map((app) => app.close()))
  })

  const routeTo = (ports: readonly number[], options: { drain_ms?: number; is_sticky?: boolean } = {}): Promise<void> => {
    const [port = 0, ...others] = ports
    const route: Route = {
      ...routeOwner,
      kind: 'upstream',
      host: '127.0.0.1',
      port,
      replica: 1,
      others: others.map((other, at) => ({ host: '127.0.0.1', port: other, replica: at + 2 })),
      ...(options.is_sticky && { is_sticky: true }),
    }
    return edge.edge.setRoute(host, route, { drain_ms: options.drain_ms ?? 1000 })
  }
  const ports = () => apps.map(({ port }) => port)
  /** Starts the edge again, with a cache and the request log. */
  const startWithCache = async () => {
    await edge.close()
    const cache = { directory: null, memory_bytes: () => 1e7, disk_bytes: () => 0 }
    edge = await startEdge({ fast_path, cache, isRequestLogEnabled: () => true })
  }
  const replicaOf = async (path = '/', options: Parameters<typeof get>[2] = {}) => (await get(edge.port, path, options)).headers['x-replica']
  const isHeld = (count: number) => until(() => held.length >= count || undefined, { what: `${count} open requests` })
  const loadOf = (port: number) => edge.edge.listReplicaLoad(host).find((one) => one.port === port)
  /** A port on which nothing listens. */
  const findClosedPort = async () => {
    const app = await startApp(() => {})
    await app.close()
    return app.port
  }

  test('the replica with fewer open requests gets the next one', async () => {
    await routeTo(ports().slice(0, 2))
    const answers = [get(edge.port, '/held'), get(edge.port, '/held')]
    await isHeld(2)
    // The second request saw that one replica was busy.
    expect(edge.edge.listReplicaLoad(host).map(({ in_flight }) => in_flight)).toEqual([1, 1])
    answers.push(get(edge.port, '/held'))
    await isHeld(3)
    const [busy] = edge.edge.listReplicaLoad(host).toSorted((a, b) => b.in_flight - a.in_flight)
    const idleReplica = busy?.port === apps[0]?.port ? 'b' : 'a'
    for (let i = 0; i < 10; i++) expect(await replicaOf()).toBe(idleReplica)
    for (const response of held) response.end()
    await Promise.all(answers)
  })

  test('all replicas get requests', async () => {
    await routeTo(ports())
    const seen = new Set<unknown>()
    await until(async () => seen.add(await replicaOf()).size === 3 || undefined, { what: 'an answer of each replica' })
  })

  test('a request that was not sent goes to another replica, with its body', async () => {
    await routeTo([await findClosedPort(), apps[0]?.port ?? 0])
    for (let i = 0; i < 5; i++) expect((await get(edge.port, '/', { method: 'POST', body: `body ${i}` })).text).toBe(`body ${i}`)
  })

  test('a replica that refuses connections rests, then gets requests again', async () => {
    const port = await findClosedPort()
    await routeTo([port, apps[0]?.port ?? 0])
    await until(async () => ((await replicaOf()) && loadOf(port)?.is_ejected ? true : undefined), { what: 'the ejection' })
    for (let i = 0; i < 5; i++) expect(await replicaOf()).toBe('a')
    await edge.advance(3_000)
    expect(loadOf(port)?.is_ejected).toBe(false)
  })

  test('a GET whose replica dies is repeated on another, a POST is not', async () => {
    let count = 0
    const dying = await startRawApp((socket) => socket.once('data', () => (count++, socket.destroy())))
    await routeTo([dying.port, apps[0]?.port ?? 0])
    while (count === 0) expect(await replicaOf()).toBe('a')
    const statuses = new Set<number>()
    while (count < 3) statuses.add((await get(edge.port, '/', { method: 'POST', body: 'once' })).status)
    expect(statuses).toContain(502)
    // Three failures in a row eject it.
    expect(loadOf(dying.port)?.is_ejected).toBe(true)
    expect(await replicaOf()).toBe('a')
    await dying.close()
  })

  test('a GET whose replica dies is repeated on another machine, where those beside it may have died too', async () => {
    const dying = await Promise.all([1, 2, 3].map(() => startRawApp((socket) => socket.once('data', () => socket.destroy()))))
    const [first, ...others] = dying.map(({ port }) => ({ host: '127.0.0.1', port }))
    await edge.edge.setRoute(host, { ...routeOwner, kind: 'upstream', ...first!, others: [...others, { host: 'localhost', port: ports()[0]! }] })
    for (let i = 0; i < 20; i++) {
      expect(await replicaOf()).toBe('a')
      await edge.advance(3_000)
    }
    await Promise.all(dying.map((one) => one.close()))
  })

  test('a GET to a replica whose machine is gone is repeated on another, without waiting for its connection to end', async () => {
    const frozen = await startFrozenApp()
    try {
      await routeTo([frozen.port, apps[1]!.port])
      await until(async () => ((await replicaOf()) === 'frozen' ? true : undefined), { what: 'an answer of the first replica' })
      await frozen.freeze()
      // On the connection that is still open.
      const answers = Promise.all(Array.from({ length: 8 }, () => get(edge.port, '/', { host })))
      expect((await edge.advanceUntilDone(answers)).map(({ status, headers }) => [status, headers['x-replica']])).toEqual(
        Array.from({ length: 8 }, () => [200, 'b']),
      )
      expect(loadOf(frozen.port)).toMatchObject({ in_flight: 0 })
    } finally {
      frozen.end()
    }
  })

  test('a slow answer is waited for, and asked for once', async () => {
    await routeTo(ports())
    const answer = get(edge.port, '/held', { host })
    await isHeld(1)
    for (let second = 0; second < 5; second++) {
      await edge.advance(1_000)
      // As long as a connection to each replica takes.
      await Promise.all(apps.map(async ({ port }) => once(connect(port, '127.0.0.1'), 'connect')))
    }
    held[0]?.end('late')
    expect(await answer).toMatchObject({ status: 200, text: 'late' })
    expect(held).toHaveLength(1)
  })

  test('a removed replica finishes its requests, and the others keep theirs', async () => {
    await routeTo(ports().slice(0, 2))
    const answers = [get(edge.port, '/held'), get(edge.port, '/held')]
    await isHeld(2)
    let isDrained = false
    const drained = routeTo([apps[0]?.port ?? 0], { drain_ms: 60_000 }).then(() => (isDrained = true))
    for (let i = 0; i < 5; i++) expect(await replicaOf()).toBe('a')
    expect(isDrained).toBe(false)
    for (const response of held) response.end()
    await drained
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200])
  })

  test('after the drain time a removed replica is cut, and a kept one is not', async () => {
    await routeTo(ports().slice(0, 2))
    const answers = [1, 2].map((n) => get(edge.port, '/held', { method: 'POST', body: `body ${n}` }))
    await isHeld(2)
    await routeTo([apps[0]?.port ?? 0], { drain_ms: 0 })
    for (const response of held) response.end()
    expect((await Promise.all(answers)).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 502])
  })

  test('a route with one replica becomes one with several, and back, under requests', async () => {
    await routeTo(ports().slice(0, 1))
    const open = get(edge.port, '/held')
    await isHeld(1)
    await routeTo(ports())
    expect(loadOf(apps[0]?.port ?? 0)?.in_flight).toBe(1)
    expect(['b', 'c']).toContain(await replicaOf())
    held[0]?.end()
    expect((await open).status).toBe(200)
    await routeTo(ports().slice(2))
    expect(await replicaOf()).toBe('c')
  })

  test('the load of an app that is scaled out includes the requests that were open before', async () => {
    await edge.edge.setRoute(host, { ...routeOwner, kind: 'upstream', host: '127.0.0.1', port: apps[0]?.port ?? 0 })
    const open = [get(edge.port, '/held'), get(edge.port, '/held')]
    await isHeld(2)
    expect(loadOf(apps[0]?.port ?? 0)?.in_flight).toBe(2)
    // The second replica is wanted, and does not run yet.
    await edge.edge.setRoute(host, { ...routeOwner, kind: 'upstream', host: '127.0.0.1', port: apps[0]?.port ?? 0, replica: 1 })
    expect(loadOf(apps[0]?.port ?? 0)?.in_flight).toBe(2)
    await routeTo(ports())
    expect(loadOf(apps[0]?.port ?? 0)?.in_flight).toBe(2)
    for (const response of held) response.end()
    expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200, 200])
  })

  test('a WebSocket counts as an open request', async () => {
    const servers = apps.map(({ server }) => new WebSocketServer({ server }))
    await routeTo(ports().slice(0, 2))
    const socket = new WebSocket(`ws://127.0.0.1:${edge.port}/`, { headers: { host } })
    await once(socket, 'open')
    const busy = edge.edge.listReplicaLoad(host).find(({ in_flight }) => in_flight === 1)
    expect(busy).toBeDefined()
    const idleReplica = busy?.port === apps[0]?.port ? 'b' : 'a'
    for (let i = 0; i < 5; i++) expect(await replicaOf()).toBe(idleReplica)
    socket.close()
    await once(socket, 'close')
    for (const server of servers) server.close()
  })

  test('with sticky sessions a browser stays at its replica while that one is healthy', async () => {
    await routeTo(ports(), { is_sticky: true })
    const first = await get(edge.port, '/')
    const cookie = first.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
    expect(first.headers['set-cookie']?.[0]).toMatch(/^homeport_replica=[0-9a-f]{16}; Path=\/; HttpOnly; SameSite=Lax$/)
    for (let i = 0; i < 10; i++) {
      const next = await get(edge.port, '/', { headers: { cookie: `theme=dark; ${cookie}` } })
      expect(next.headers['x-replica']).toBe(first.headers['x-replica'])
      expect(next.headers['set-cookie']).toBeUndefined()
    }
    const remaining = apps.filter((_, at) => ['a', 'b', 'c'][at] !== first.headers['x-replica'])
    await routeTo(
      remaining.map(({ port }) => port),
      { is_sticky: true },
    )
    const moved = await get(edge.port, '/', { headers: { cookie } })
    expect(moved.headers['set-cookie']).toHaveLength(1)
    expect(moved.headers['x-replica']).not.toBe(first.headers['x-replica'])
  })

  test('a response that sets the cookie of sticky sessions is never stored, however cacheable', async () => {
    await startWithCache()
    for (const app of apps)
      app.server.removeAllListeners('request').on('request', (_request, response) => {
        response.setHeader('cache-control', 'public, max-age=600')
        response.end(String(app.port))
      })
    await routeTo(ports(), { is_sticky: true })
    const cookies = new Set<string>()
    for (let i = 0; i < 20; i++) {
      const { headers } = await get(edge.port, '/page')
      expect(headers['x-cache']).not.toBe('HIT')
      cookies.add(headers['set-cookie']?.[0] ?? 'none')
    }
    expect(cookies).not.toContain('none')
    expect(edge.edge.cache.stats(routeOwner.project_id).objects).toBe(0)
    // A browser that has its cookie gets no new one.
    const [cookie = ''] = [...cookies][0]?.split(';') ?? []
    expect((await get(edge.port, '/page', { headers: { cookie } })).headers['set-cookie']).toBeUndefined()
  })

  test('the request log names the replica that a request was sent to', async () => {
    await startWithCache()
    const takeRecord = () => until(async () => (await edge.edge.requests.take())[0], { what: 'the record' })
    await routeTo(ports())
    for (let i = 0; i < 5; i++) {
      const answered = await replicaOf(`/${i}`)
      expect((await takeRecord()).replica).toBe(['a', 'b', 'c'].indexOf(String(answered)) + 1)
    }
    await edge.edge.setRoute(host, { ...routeOwner, kind: 'upstream', host: '127.0.0.1', port: apps[0]?.port ?? 0 })
    await replicaOf('/single')
    expect((await takeRecord()).replica).toBeNull()
  })
})
