import { randomUUID } from 'node:crypto'
import { connect, constants, type ClientHttp2Session } from 'node:http2'
import type { Duplex } from 'node:stream'
import type Docker from 'dockerode'
import { createFrameReader, encodeField, encodeFrame, encodeMap } from './protobuf.ts'

/** A build in the form of BuildKit's own API. */
export interface SolveRequest {
  /** The id of a session that provides the context, secrets and sign-ins. */
  session: string
  /** The name of the image. */
  image: string
  /** Of the frontend for Dockerfiles, such as `filename` and `cgroup-parent`. */
  attributes: Readonly<Record<string, string>>
  signal: AbortSignal
}

/**
 * Builds by BuildKit's own API, which the engine serves at `/grpc`, because `POST /build` has no parameter for the control group of the steps. Returns
 * the error message of a failed build. `onStatus` gets encoded `StatusResponse` messages.
 */
export async function solve(docker: Docker, request: SolveRequest, onStatus: (message: Buffer) => void): Promise<string | null> {
  const { signal } = request
  signal.throwIfAborted()
  const connection = await openControl(docker)
  const abort = () => connection.destroy()
  signal.addEventListener('abort', abort, { once: true })
  try {
    const ref = randomUUID()
    // SolveRequest: 1 ref, 3 exporter, 4 its attributes, 5 session, 6 frontend, 7 its attributes, 8 cache.
    const message = Buffer.concat([
      encodeField(1, ref),
      encodeField(3, 'moby'),
      encodeMap(4, { name: request.image }),
      encodeField(5, request.session),
      encodeField(6, 'dockerfile.v0'),
      encodeMap(7, request.attributes),
      encodeField(8, ''),
    ])
    const solved = call(connection, 'Solve', message, () => {})
    let hasStatus = false
    // A lost connection is reported by the other call.
    const reported = call(connection, 'Status', encodeField(1, ref), (status) => {
      hasStatus = true
      onStatus(status)
    }).catch(() => null)
    const failure = await solved
    // Missing for a build that BuildKit rejects at once.
    if (hasStatus) await reported
    return failure
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', abort)
    connection.destroy()
  }
}

async function openControl(docker: Docker): Promise<ClientHttp2Session> {
  const socket = await new Promise<Duplex>((resolve, reject) => {
    docker.modem.dial(
      { method: 'POST', path: '/grpc', hijack: true, headers: { Upgrade: 'h2c' }, statusCodes: { 200: true, 500: 'server error' } },
      (error: unknown, result: unknown) => (error ? reject(error) : resolve(result as Duplex)),
    )
  })
  const connection = connect('http://buildkit', { createConnection: () => socket })
  connection.on('error', () => {})
  return connection
}

/** The error message of a call; null after a success. */
function call(connection: ClientHttp2Session, method: string, message: Buffer, onMessage: (message: Buffer) => void): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const stream = connection.request({
      ':method': 'POST',
      ':path': `/moby.buildkit.v1.Control/${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    let outcome: string | null | undefined
    const readOutcome = (headers: Record<string, string | string[] | number | undefined>) => {
      if (headers['grpc-status'] === undefined) return
      outcome = Number(headers['grpc-status']) === 0 ? null : decodeURIComponent(String(headers['grpc-message'] ?? 'The build failed.'))
    }
    stream.on('response', readOutcome)
    stream.on('trailers', readOutcome)
    stream.on('data', createFrameReader(onMessage))
    stream.on('error', reject)
    stream.on('close', () => {
      if (outcome !== undefined) resolve(outcome)
      else
        reject(
          new Error(
            `The Docker engine broke the build off: socket hang up (${stream.rstCode === constants.NGHTTP2_NO_ERROR ? 'closed' : stream.rstCode})`,
          ),
        )
    })
    stream.end(encodeFrame(message))
  })
}
