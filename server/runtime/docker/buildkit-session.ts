import { randomUUID } from 'node:crypto'
import { performServerHandshake, type ServerHttp2Stream } from 'node:http2'
import { type Duplex, type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type Docker from 'dockerode'
import { normalizeRegistryHost } from '../../lib/image-name.ts'
import { decodeFields } from './buildkit-status.ts'
import { encodeField, encodeFrame } from './protobuf.ts'
import type { RegistryLogin } from '../registries.ts'

/** A connection on which BuildKit requests what a build needs and no layer may contain. */
export interface BuildKitSession {
  /** Of the query parameter `session` of the build. */
  id: string
  close(): void
}

/** Status codes of gRPC. */
const status = { ok: '0', not_found: '5', unimplemented: '12' } as const

const getSecretMethod = '/moby.buildkit.secrets.v1.Secrets/GetSecret'
const getCredentialsMethod = '/moby.filesync.v1.Auth/Credentials'
const pullMethod = '/moby.upload.v1.Upload/Pull'

/** The data that a build may request. */
export interface SessionContent {
  /** By their id, for `RUN --mount=type=secret`. */
  secrets: Readonly<Record<string, string>>
  /** The sign-in for a registry, as BuildKit names it. */
  findLogin(host: string): Promise<RegistryLogin | undefined>
  /** The archive of the running build's context, if its request has none. */
  openContext?(): Readable | undefined
}

/**
 * Opens a session that provides secrets and sign-ins. Docker upgrades the connection to HTTP/2, on which BuildKit is the client and calls gRPC
 * methods: `BytesMessage` 1 data, `GetSecretRequest` 1 id, `GetSecretResponse` 1 data, `CredentialsRequest` 1 host, `CredentialsResponse` 1 username, 2 secret,
 * `HealthCheckResponse` 1 status.
 */
export async function openBuildKitSession(docker: Docker, content: SessionContent): Promise<BuildKitSession> {
  const id = randomUUID()
  const socket = await new Promise<Duplex>((resolve, reject) => {
    const headers = {
      Upgrade: 'h2c',
      'X-Docker-Expose-Session-Uuid': id,
      'X-Docker-Expose-Session-Name': 'homeport',
      'X-Docker-Expose-Session-Grpc-Method': [getSecretMethod, getCredentialsMethod, pullMethod],
    }
    docker.modem.dial(
      { method: 'POST', path: '/session', hijack: true, headers, statusCodes: { 200: true, 500: 'server error' } },
      (error: unknown, result: unknown) => (error ? reject(error) : resolve(result as Duplex)),
    )
  })
  // A lost connection fails the build by itself.
  socket.on('error', () => {})
  const connection = performServerHandshake(socket)
  connection.on('error', () => {})
  connection.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    if (headers[':path'] === pullMethod) return sendContext(stream, content.openContext?.())
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
    return respond(stream, encodeField(1, value), status.ok)
  }
  if (method === '/grpc.health.v1.Health/Check') return respond(stream, Buffer.from([0x08, 1]), status.ok)
  if (method === getCredentialsMethod) {
    const login = await findLogin(normalizeRegistryHost(readFirstField(request)) ?? '')
    // Without a sign-in the message is empty. An identity token is a secret without a user name.
    const fields = login ? [encodeField(1, login.username), encodeField(2, login.identity_token ?? login.password)] : []
    return respond(stream, Buffer.concat(fields), status.ok)
  }
  respond(stream, null, status.unimplemented)
}

const readFirstField = (message: Buffer): string => [...decodeFields(message)].find(({ number }) => number === 1)?.bytes.toString() ?? ''

/** The only message of a unary call: a byte for compression, which is never used, four for the length, and the message. */
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
  stream.end(encodeFrame(message))
}

/** BuildKit does not end its side of this call. */
function sendContext(stream: ServerHttp2Stream, context: Readable | undefined): void {
  if (context === undefined) return respond(stream, null, status.not_found)
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': status.ok }))
  const frames = new Transform({ transform: (piece: Buffer, _, done) => done(null, encodeFrame(encodeField(1, piece))) })
  pipeline(context, frames, stream).catch(() => stream.destroy())
}
