import { WebSocket } from 'ws'

/** A WebSocket to a host name of the edge, over HTTPS. */
export async function openSecureSocket(httpsUrl: string, path: string, protocol: string): Promise<{ socket: WebSocket; messages: string[] }> {
  const { hostname, port, origin } = new URL(httpsUrl)
  const messages: string[] = []
  // The certificate is of a test's own authority. The types do not know the server name.
  const options = { headers: { host: `${hostname}:${port}`, origin }, servername: hostname, rejectUnauthorized: false }
  const socket = new WebSocket(`wss://127.0.0.1:${port}${path}`, protocol, options)
  socket.on('message', (data: Buffer) => messages.push(data.toString()))
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  return { socket, messages }
}
