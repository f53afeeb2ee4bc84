import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { makeRepository } from '../support/repository.ts'
import { openStalledReader } from '../support/event-stream.ts'
import { residentMemory_mb, startInstance } from './instance.ts'
import type { BenchRow } from './row.ts'

const readers = 1_000
const stalledReaders = 50

/** 1 000 readers of one log with a line a second and 50 that do not read: when each line arrives, and its cost. */
export async function benchStreams(options: { seconds?: number } = {}): Promise<BenchRow[]> {
  const seconds = options.seconds ?? 15
  const instance = await startInstance({ runtime: 'process' })
  const { client } = instance
  const repository = makeRepository({
    'package.json': JSON.stringify({ name: 'clock', private: true, scripts: { start: 'node server.js' } }),
    'server.js':
      "require('http').createServer((q, r) => r.end('ok')).listen(process.env.PORT, '0.0.0.0'); setInterval(() => console.log('at ' + Date.now()), 1000)",
  })
  const sockets: { destroy(): void }[] = []
  const delays_ms: number[] = []
  try {
    await client.createProject({ slug: 'clock', repo_url: repository.url })
    await client.waitForEnd('clock', (await client.deploy('clock')).id)
    await delay(2_000)
    const before = residentMemory_mb(instance.pid)
    const url = `${instance.instance.api_url}/v1/projects/clock/runtime-logs?lines=20`
    for (let i = 0; i < stalledReaders; i++) {
      const one = openStalledReader(url, instance.instance.token)
      sockets.push({ destroy: () => one.end() })
    }
    let begun = Infinity
    for (let i = 0; i < readers; i++) {
      sockets.push(
        await openLogStream(url, instance.instance.token, (at) => {
          if (at > begun) delays_ms.push(Date.now() - at)
        }),
      )
    }
    begun = Date.now()
    await delay(seconds * 1000)
    const grown = residentMemory_mb(instance.pid) - before
    delays_ms.sort((a, b) => a - b)
    const p99 = delays_ms[Math.floor(delays_ms.length * 0.99)] ?? Infinity
    // The last second may still be in flight.
    const isComplete = delays_ms.length >= readers * (seconds - 2)
    const name = `${readers} streams, a line a second`
    return [
      {
        name: `${name}, p99`,
        who: 'homeport',
        value: p99,
        unit: 'ms',
        ratios: {},
        bar: 'under 1 s, none lost',
        ok: p99 < 1_000 && isComplete,
        note: `${delays_ms.length} lines arrived`,
      },
      {
        name: `${name}, memory`,
        who: 'homeport',
        value: grown,
        unit: 'MB',
        ratios: {},
        bar: 'under +80 MB',
        ok: grown < 80,
        note: `${stalledReaders} of them stalled beside`,
      },
    ]
  } finally {
    for (const socket of sockets) socket.destroy()
    await instance.remove()
    repository.remove()
  }
}

/** Resolves once the stream is open. */
function openLogStream(url: string, token: string, onLine: (at: number) => void): Promise<Socket> {
  const { hostname, port, pathname, search } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) })
    socket.setEncoding('latin1')
    socket.on('connect', () =>
      socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`),
    )
    socket.on('error', reject)
    socket.on('data', (text) => {
      resolve(socket)
      for (const [, at] of String(text).matchAll(/data: at (\d+)/g)) onLine(Number(at))
    })
  })
}
