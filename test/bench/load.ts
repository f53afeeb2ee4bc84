import { connect } from 'node:net'

export interface Reading {
  per_second: number
  /** Latencies of single requests, sorted: `latency(0.5)` is the median, in milliseconds. */
  latency(share: number): number
  requests: number
}

/**
 * Requests one path repeatedly over keep-alive connections and reads the responses by their Content-Length. It uses raw sockets, because a
 * client that costs more than the server would measure itself. Throws at the first response that is not 200.
 */
export async function load(options: { port: number; path: string; token?: string; connections: number; seconds: number }): Promise<Reading> {
  const question = [
    `GET ${options.path} HTTP/1.1`,
    `Host: 127.0.0.1:${options.port}`,
    ...(options.token ? [`Authorization: Bearer ${options.token}`] : []),
    '',
    '',
  ].join('\r\n')
  const times: number[] = []
  const begun = performance.now()
  const endsAt = begun + options.seconds * 1000
  await Promise.all(Array.from({ length: options.connections }, () => askAgainAndAgain(options.port, question, endsAt, times)))
  const seconds = (performance.now() - begun) / 1000
  times.sort((a, b) => a - b)
  return {
    per_second: times.length / seconds,
    latency: (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? NaN,
    requests: times.length,
  }
}

function askAgainAndAgain(port: number, question: string, endsAt: number, times: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let head = ''
    let left = -1
    let askedAt = 0
    const ask = () => {
      head = ''
      left = -1
      askedAt = performance.now()
      socket.write(question)
    }
    socket.on('connect', ask)
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed the connection')))
    socket.on('data', (chunk: Buffer) => {
      let bytes = chunk.length
      if (left < 0) {
        head += chunk.toString('latin1')
        const end = head.indexOf('\r\n\r\n')
        if (end === -1) return
        if (!head.startsWith('HTTP/1.1 200')) {
          socket.destroy()
          return reject(new Error(`answered ${head.slice(0, 200)}`))
        }
        left = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? NaN)
        bytes = head.length - end - 4
      }
      left -= bytes
      if (left > 0) return
      const now = performance.now()
      times.push(now - askedAt)
      if (now < endsAt) return ask()
      socket.removeAllListeners('close')
      socket.destroy()
      resolve()
    })
  })
}
