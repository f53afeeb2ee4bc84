import { mkdtemp, rm } from 'node:fs/promises'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A door before a socket of an engine, which a test shuts (as if the engine went away) and opens again. */
export async function createGate(target: string): Promise<{ address: string; shut(): Promise<void>; open(): Promise<void>; close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-gate-'))
  const path = join(folder, 'engine.sock')
  const sockets = new Set<Socket>()
  let server: Server

  const open = async () => {
    server = createServer({ allowHalfOpen: true }, (near) => {
      const far = createConnection({ path: target, allowHalfOpen: true })
      for (const socket of [near, far]) {
        sockets.add(socket)
        socket
          .on('error', () => {})
          .on('close', () => {
            sockets.delete(socket)
            near.destroy()
            far.destroy()
          })
      }
      near.pipe(far)
      far.pipe(near)
    })
    await new Promise<void>((resolve) => server.listen(path, resolve))
  }
  const shut = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of sockets) socket.destroy()
    await closed
  }
  await open()
  return {
    address: `unix://${path}`,
    open,
    shut,
    async close() {
      await shut()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
