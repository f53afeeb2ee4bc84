import { Agent, request } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { connect as connectTls } from 'node:tls'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { limits } from '../../server/contract/limits.ts'
import { deployWithReplicas, platformOnNode, waitForNodeEdge, withNodeEdges } from '../support/cluster.ts'
import { startTestPlatform, type TestPlatform } from '../support/platform.ts'
import { findFailuresDuring, getAtEdge } from '../support/edge-requests.ts'
import { makeRepository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { startSwarm, type TestSwarm } from '../support/swarm.ts'
import { until } from '../support/until.ts'

/* An app of three replicas on three nodes, under traffic of all kinds at the edge of the third. */

const server = `
const { createHash } = require('node:crypto')
const server = require('node:http').createServer((request, response) => {
  let size = 0
  request.on('data', (part) => (size += part.length)).on('end', () => response.end(request.method + ' ' + size))
})
server.on('upgrade', (request, socket) => {
  const accept = createHash('sha1').update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64')
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: ' + accept + '\\r\\n\\r\\n')
  // Echoes short texts.
  socket.on('error', () => {}).on('data', (frame) => {
    if ((frame[0] & 15) !== 1) return socket.end()
    const length = frame[1] & 127
    const text = frame.subarray(6, 6 + length).map((byte, at) => byte ^ frame[2 + (at % 4)])
    socket.write(Buffer.concat([Buffer.from([0x81, length]), text]))
  })
})
server.listen(process.env.PORT, process.env.HOST)
process.on('SIGTERM', () => server.close(() => process.exit(0)))
`

describe.skipIf(!requires('swarm').ok)('an app of three replicas on a cluster', () => {
  let swarm: TestSwarm
  let platform: TestPlatform
  const app = makeRepository({ 'package.json': JSON.stringify({ private: true, scripts: { start: 'node server.js' } }), 'server.js': server })
  const host = 'traffic.localhost'
  const body = 'x'.repeat(3_000)
  const portOf = (url: string | null) => Number(new URL(url ?? '').port)

  beforeAll(async () => {
    swarm = await startSwarm(3)
    platform = await startTestPlatform({ ...platformOnNode(swarm, 1), ...withNodeEdges })
    await deployWithReplicas(platform, 'traffic', app.url, 3)
    await waitForNodeEdge(platform, 3)
  }, 300_000)
  afterAll(async () => {
    await platform.remove()
    await swarm.remove()
    app.remove()
  }, 120_000)

  /** A request over HTTP/1.1 on a connection of the agent. */
  const sendHttp1 = (agent: Agent, method: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const port = portOf(platform.handle.instance.edge_url)
      const outgoing = request({ host: swarm.address(3), port, agent, method, headers: { host } }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => (text += part))
        response.on('end', () => resolve(`${response.statusCode} ${text}`)).on('error', reject)
      })
      outgoing.on('error', reject)
      outgoing.end(method === 'POST' ? body : undefined)
    })

  /** A client with one connection of HTTP/2. */
  const openHttp2 = () => {
    const address = { host: swarm.address(3), port: portOf(platform.handle.instance.edge_https_url) }
    const session = connectHttp2(`https://${host}`, {
      createConnection: () => connectTls({ ...address, servername: host, rejectUnauthorized: false, ALPNProtocols: ['h2'] }),
    })
    session.on('error', () => {})
    const send = (method: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const stream = session.request({ ':method': method, ':path': '/' }, { endStream: method === 'GET' })
        let status = 0
        let text = ''
        stream.on('response', (head) => (status = Number(head[':status'])))
        stream.setEncoding('utf8').on('data', (part: string) => (text += part))
        stream.on('end', () => resolve(`${status} ${text}`)).on('error', reject)
        if (method === 'POST') stream.end(body)
      })
    return { send, close: () => session.close() }
  }

  /** A WebSocket that sends one message after the other; `ended` resolves with the time of its end once it is closed, and rejects if it never opened. */
  const openSocket = async () => {
    const socket = new WebSocket(`ws://${swarm.address(3)}:${portOf(platform.handle.instance.edge_url)}/`, { headers: { host } })
    await new Promise<void>((resolve, reject) => void socket.once('open', resolve).once('error', reject))
    let echoes = 0
    socket
      .on('error', () => {})
      .on('message', () => {
        echoes++
        void delay(50).then(() => socket.readyState === WebSocket.OPEN && socket.send(`message ${echoes}`))
      })
    const ended = new Promise<number>((resolve) => socket.once('close', () => resolve(performance.now())))
    socket.send('first')
    return { ended, echoes: () => echoes }
  }

  test('deployments fail no GET and no POST over HTTP/1.1 and HTTP/2, and drain WebSockets', { timeout: 1_200_000 }, async () => {
    const least = { rounds: 3, requests: 50_000 }
    const expected: Record<string, string> = { GET: '200 GET 0', POST: `200 POST ${body.length}` }
    const agent = new Agent({ keepAlive: true })
    const session = openHttp2()
    const failures: string[] = []
    const sent: Record<string, number> = {}
    const countSent = () => Object.values(sent).reduce((sum, count) => sum + count, 0)
    let isOver = false
    let slowest_ms = 0
    const sendUntilOver = async (name: string, method: string, send: (method: string) => Promise<string>) => {
      while (!isOver) {
        const began = performance.now()
        const answer = await send(method).catch(String)
        slowest_ms = Math.max(slowest_ms, performance.now() - began)
        sent[`${name} ${method}`] = (sent[`${name} ${method}`] ?? 0) + 1
        if (answer !== expected[method]) failures.push(`${name} ${method}: ${answer.slice(0, 100)}`)
      }
    }
    const visitors = ['GET', 'POST'].flatMap((method) => [
      sendUntilOver('HTTP/1.1', method, (one) => sendHttp1(agent, one)),
      sendUntilOver('HTTP/1.1', method, (one) => sendHttp1(agent, one)),
      sendUntilOver('HTTP/2', method, session.send),
      sendUntilOver('HTTP/2', method, session.send),
    ])
    const drained: number[] = []
    try {
      for (let round = 0; round < least.rounds || countSent() < least.requests; round++) {
        const socket = await openSocket()
        const { id } = await platform.deploy('traffic')
        expect(await platform.waitForEnd('traffic', id)).toMatchObject({ status: 'ready' })
        const switched = performance.now()
        const before = socket.echoes()
        await until(() => socket.echoes() > before || undefined, { what: 'an echo of the previous version' })
        drained.push((await socket.ended) - switched)
      }
    } finally {
      isOver = true
      await Promise.all(visitors)
      session.close()
      agent.destroy()
    }
    console.log(
      JSON.stringify(sent),
      `slowest ${Math.round(slowest_ms)} ms; WebSockets ended ${drained.map((ms) => Math.round(ms)).join(', ')} ms after`,
    )
    expect(failures).toEqual([])
    expect(Math.min(...drained)).toBeGreaterThan(limits.drain_ms / 2)
  })

  test('an app that does not fit twice is replaced one by one, without a failed GET', { timeout: 300_000 }, async () => {
    const docker = (...args: string[]) => swarm.docker(1, args)
    // Those of the versions before end when they are drained.
    await until(
      async () => (await docker('service', 'ls', '-q', '--filter', 'label=homeport.role=replica')).trim().split('\n').length === 3 || undefined,
      {
        what: 'the end of earlier versions',
      },
    )
    // One on each node.
    expect(await platform.api('POST', '/instance/nodes/balance')).toMatchObject({ status: 200 })
    const image = await docker('service', 'ls', '--filter', 'label=homeport.role=agent', '--format', '{{.Image}}')
    const used_mb = 256 + 32
    // A replica reserves 256 MB. Only the first node has room for another one, and none for two.
    for (const [index, room_mb] of [300, 150, 150].entries()) {
      const id = (await swarm.docker(index + 1, ['info', '--format', '{{.Swarm.NodeID}}'])).trim()
      const bytes = Number(await docker('node', 'inspect', '--format', '{{.Description.Resources.MemoryBytes}}', id))
      const reserved = `${Math.floor(bytes / 2 ** 20) - used_mb - room_mb}m`
      const name = `full-${index + 1}`
      const options = ['--detach', '--name', name, '--constraint', `node.id==${id}`, '--reserve-memory', reserved]
      await docker('service', 'create', ...options, image.trim(), 'node', '-e', 'setInterval(() => {}, 1e9)')
      await until(
        async () => {
          const state = (await docker('service', 'ps', '--format', '{{.CurrentState}} {{.Error}}', name)).trim()
          expect(state).toContain('Running')
          return true
        },
        { what: `a full node ${index + 1}` },
      )
    }
    let log = ''
    const get = () => getAtEdge(swarm.address(3), portOf(platform.handle.instance.edge_url), 'traffic')
    const failures = await findFailuresDuring(
      async () => {
        const ended = await platform.waitForEnd('traffic', (await platform.deploy('traffic')).id)
        expect(ended).toMatchObject({ status: 'ready', error: null })
        log = ended.build_log
      },
      ['traffic'],
      get,
    )
    expect(failures).toEqual([])
    expect(log).toContain('The replicas are replaced one by one.')
    expect(log).toContain('2 of 3 replicas replaced')
  })
})
