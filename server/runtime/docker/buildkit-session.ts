import { randomUUID } from 'node:crypto'
import { performServerHandshake, type ServerHttp2Stream } from 'node:http2'
import type { Duplex } from 'node:stream'
import type Docker from 'dockerode'
import { normalizeRegistryHost } from '../../lib/image-name.ts'
import { decodeFields } from './buildkit-status.ts'
import type { RegistryLogin } from '../registries.ts'

/** A connection on which BuildKit asks this process for what a build needs and no layer may contain. */
export interface BuildKitSession {
  /** Of the query parameter `session` of the build. */
  id: string
  close(): void
}

/** Status codes of gRPC. */
const status = { ok: '0', not_found: '5', unimplemented: '12' } as const

const getSecretMethod = '/moby.buildkit.secrets.v1.Secrets/GetSecret'
const getCredentialsMethod = '/moby.filesync.v1.Auth/Credentials'

/** What a build may ask for. */
export interface SessionContent {
  /** By their id, for `RUN --mount=type=secret`. */
  secrets: Readonly<Record<string, string>>
  /** The sign-in for a registry, as BuildKit names it. */
  findLogin(host: string): Promise<RegistryLogin | undefined>
}

/**
 * Opens a session that provides secrets and sign-ins. Docker upgrades the connection to HTTP/2, on which BuildKit is the client and calls gRPC
 * methods: `GetSecretRequest` 1 id, `GetSecretResponse` 1 data, `CredentialsRequest` 1 host, `CredentialsResponse` 1 username, 2 secret,
 * `HealthCheckResponse` 1 status.
 */
export async function openBuildKitSession(docker: Docker, content: SessionContent): Promise<BuildKitSession> {
  const id = randomUUID()
  const socket = await new Promise<Duplex>((resolve, reject) => {
    const headers = {
      Upgrade: 'h2c',
      'X-Docker-Expose-Session-Uuid': id,
      'X-Docker-Expose-Session-Name': 'homeport',
      'X-Docker-Expose-Session-Grpc-Method': [getSecretMethod, getCredentialsMethod],
    }
    docker.modem.dial(
      { method: 'POST', path: '/session', hijack: true, headers, statusCodes: { 200: true, 500: 'server error' } },
      (error: unknown, result: unknown) => (error ? reject(error) : resolve(result as Duplex)),
    )
  })
  // The build fails by itself when the connection is lost.
  socket.on('error', () => {})
  const connection = performServerHandshake(socket)
  connection.on('error', () => {})
  connection.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    readMessage(stream).then(
      (request) => answer(stream, String(headers[':path']), request, content).catch(() => stream.destroy()),
      () => stream.destroy(),
    )
  })
  return {
    id,
    close() {
      connection.destroy()
      socket.destroy()
    },
  }
}

async function answer(stream: ServerHttp2Stream, method: string, request: Buffer, { secrets, findLogin }: SessionContent): Promise<void> {
  if (method === getSecretMethod) {
    const id = readFirstField(request)
    const value = Object.hasOwn(secrets, id) ? secrets[id] : undefined
    if (value === undefined) return respond(stream, null, status.not_found)
    return respond(stream, encodeBytes(1, Buffer.from(value)), status.ok)
  }
  if (method === '/grpc.health.v1.Health/Check') return respond(stream, Buffer.from([0x08, 1]), status.ok)
  if (method === getCredentialsMethod) {
    const login = await findLogin(normalizeRegistryHost(readFirstField(request)) ?? '')
    // Without a sign-in the message is empty. An identity token is a secret without a user name.
    const fields = login ? [encodeBytes(1, Buffer.from(login.username)), encodeBytes(2, Buffer.from(login.identity_token ?? login.password))] : []
    return respond(stream, Buffer.concat(fields), status.ok)
  }
  respond(stream, null, status.unimplemented)
}

const readFirstField = (message: Buffer): string => [...decodeFields(message)].find(({ number }) => number === 1)?.bytes.toString() ?? ''

/** The one message of a unary call: a byte for compression, which nobody asked for, four for the length, and the message. */
async function readMessage(stream: ServerHttp2Stream): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of stream) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).subarray(5)
}

function respond(stream: ServerHttp2Stream, message: Buffer | null, code: string): void {
  if (stream.destroyed) return
  const headers = { ':status': 200, 'content-type': 'application/grpc' }
  if (!message) {
    stream.respond({ ...headers, 'grpc-status': code }, { endStream: true })
    return
  }
  stream.respond(headers, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': code }))
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  stream.end(Buffer.concat([head, message]))
}

/** A length-delimited field of protobuf. */
function encodeBytes(field: number, bytes: Buffer): Buffer {
  const head = [(field << 3) | 2]
  for (let rest = bytes.length; ; rest >>>= 7) {
    head.push(rest < 0x80 ? rest : (rest & 0x7f) | 0x80)
    if (rest < 0x80) return Buffer.concat([Buffer.from(head), bytes])
  }
}
