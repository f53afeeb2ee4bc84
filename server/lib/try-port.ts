import { connect } from 'node:net'

/** `refused`: the machine answers, and nothing listens at the port. */
export function tryPort(host: string, port: number, timeout_ms: number): Promise<'open' | 'refused' | 'silent'> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: timeout_ms })
    const end = (found: 'open' | 'refused' | 'silent') => {
      socket.destroy()
      resolve(found)
    }
    socket.on('connect', () => end('open'))
    // After a pause of this process, the answer is there and not read yet.
    socket.on('timeout', () => setImmediate(() => setImmediate(() => end('silent'))))
    socket.on('error', ({ code }: NodeJS.ErrnoException) => end(code === 'ECONNREFUSED' ? 'refused' : 'silent'))
  })
}
