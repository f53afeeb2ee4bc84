import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dockerSocket } from './requirements.ts'

/**
 * A socket in front of the real Docker engine, for faults that a test must not cause in the engine itself: it can be closed (connections are refused
 * and open ones break), hang (connections stay open without data), and be reopened.
 */
export interface DockerFaultProxy {
  /** As in DOCKER_HOST. */
  address: string
  /** Opens a TCP port too, which makes it a remote engine for the platform. Returns its address. */
  openTcp(): Promise<string>
  open(): Promise<void>
  close(): Promise<void>
  hang(): void
  /** The next build fails with this message of the engine, without reaching it. */
  failNextBuild(message: string): void
  /** Continues after a hang. */
  resume(): void
  remove(): Promise<void>
}

export function createDockerFaultProxy(): DockerFaultProxy {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-engine-'))
  const path = join(folder, 'docker.sock')
  const pairs = new Set<[Socket, Socket]>()
  let isHanging = false
  let buildFailure: string | undefined
  /** Of connections on which a build fails. */
  const failures = new Map<Socket, string>()
  let server: Server | undefined
  let tcpServer: Server | undefined

  function takeFailure(chunk: Buffer): string | undefined {
    if (buildFailure === undefined || !/^POST \/(?:v[\d.]+\/)?build\?/.test(chunk.subarray(0, 40).toString('latin1'))) return undefined
    const failure = buildFailure
    buildFailure = undefined
    return failure
  }

  function createProxyServer(): Server {
    return createServer({ allowHalfOpen: true }, (client) => {
      const engine = connect({ path: dockerSocket, allowHalfOpen: true })
      const pair: [Socket, Socket] = [client, engine]
      pairs.add(pair)
      for (const [from, to] of [pair, [engine, client]] as [Socket, Socket][]) {
        from.on('data', (chunk: Buffer) => {
          const failure = from === client ? (failures.get(client) ?? takeFailure(chunk)) : undefined
          if (failure !== undefined) {
            failures.set(client, failure)
            // The end of a request in chunks.
            if (chunk.subarray(-5).toString('latin1') === '0\r\n\r\n')
              client.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${JSON.stringify({ error: failure })}\n`)
            return
          }
          if (!to.write(chunk)) from.pause()
        })
        to.on('drain', () => {
          if (!isHanging) from.resume()
        })
        from.on('end', () => to.end())
        from.on('error', () => to.destroy())
        from.on('close', () => {
          to.destroy()
          pairs.delete(pair)
        })
      }
      if (isHanging) for (const socket of pair) socket.pause()
    })
  }

  return {
    address: `unix://${path}`,
    async open() {
      isHanging = false
      server = createProxyServer()
      server.listen(path)
      await once(server, 'listening')
    },
    async openTcp() {
      tcpServer = createProxyServer().listen(0, '127.0.0.1')
      await once(tcpServer, 'listening')
      const address = tcpServer.address()
      return `tcp://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
    },
    async close() {
      const closing = server
      server = undefined
      const closed = new Promise<void>((resolve) => (closing ? closing.close(() => resolve()) : resolve()))
      for (const pair of pairs) for (const socket of pair) socket.destroy()
      pairs.clear()
      await closed
      rmSync(path, { force: true })
    },
    hang() {
      isHanging = true
      for (const pair of pairs) for (const socket of pair) socket.pause()
    },
    failNextBuild(message) {
      buildFailure = message
    },
    resume() {
      isHanging = false
      for (const pair of pairs) for (const socket of pair) socket.resume()
    },
    async remove() {
      tcpServer?.close()
      await this.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
