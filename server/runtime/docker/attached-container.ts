import { PassThrough, Readable, Writable } from 'node:stream'
import { callbackify } from 'node:util'
import type Docker from 'dockerode'
import { systemClock } from '../../lib/clock.ts'
import { createReplicaExit } from '../exit.ts'
import { createHeldOutput } from '../held-output.ts'
import type { AttachedReplica, AttachedRequest } from '../runtime.ts'
import { unixShell } from '../unix-shell.ts'
import type { DockerEngine } from './engine.ts'
import { wasOomKilled } from './oom.ts'
import { createStreamDemuxer } from './stream-demuxer.ts'

/** The container configuration of a one-off command. Docker stores no output of it. */
export function createAttachedConfig({ command, terminal }: AttachedRequest): Docker.ContainerCreateOptions {
  return {
    // An empty entrypoint means none, because a shell is not an argument of the image's entrypoint.
    ...(command === null ? { Entrypoint: [''], Cmd: unixShell } : { Cmd: command }),
    Tty: terminal !== null,
    OpenStdin: true,
    // The input of the container ends with the connection of its only client, so that a shell does not outlive the platform.
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: { LogConfig: { Type: 'none', Config: {} } },
  }
}

/** Attaches to a container, then starts it. */
export async function attachContainer(
  engine: DockerEngine,
  container: Docker.Container,
  { terminal, signal }: AttachedRequest,
  startIn: (start: () => Promise<void>) => Promise<void>,
): Promise<AttachedReplica> {
  const { clock = systemClock } = engine.options
  const socket = toDuplex(await container.attach({ stream: true, stdin: true, stdout: true, stderr: true, hijack: true }))
  socket.on('error', () => {})
  try {
    signal.throwIfAborted()
    await startIn(() => engine.startContainer(container))
    if (terminal) await resize(container, terminal)
  } catch (error) {
    socket.destroy()
    throw error
  }
  const sources = terminal ? { stdout: socket, stderr: null } : splitOutput(socket)
  const [stdout, stderr] = [createHeldOutput(sources.stdout, clock), sources.stderr && createHeldOutput(sources.stderr, clock)]
  const exited = (async () => {
    const code = await container.wait().then(
      ({ StatusCode }: { StatusCode: number }) => StatusCode,
      () => null,
    )
    const { docker } = await engine.connection()
    const found = await container.inspect().catch(() => undefined)
    const isOutOfMemory = found !== undefined && (await wasOomKilled(docker, container.id, found.State))
    stdout.endWhenSilent()
    stderr?.endWhenSilent()
    return createReplicaExit(code, null, isOutOfMemory)
  })().catch(() => createReplicaExit(null, null, false))
  // Input waits for an earlier resize, which is another request, so that a program sees the current size.
  let resizing = Promise.resolve()
  return {
    id: container.id,
    // Ends only the input half, because `destroy` would close the output half too.
    input: new Writable({
      write: callbackify(async (chunk: Buffer, _encoding: BufferEncoding): Promise<void> => {
        await resizing
        if (!socket.destroyed) await new Promise<void>((resolve) => socket.write(chunk, () => resolve()))
      }),
      final: (done) => void (socket.destroyed ? done() : socket.end(() => done())),
    }),
    stdout: stdout.stream,
    stderr: stderr?.stream ?? null,
    resize(size) {
      // A container that has ended has no terminal.
      if (terminal) resizing = resize(container, size).catch(() => {})
      return resizing
    },
    exited,
  }
}

const resize = (container: Docker.Container, { columns, rows }: { columns: number; rows: number }): Promise<void> =>
  container.resize({ w: columns, h: rows }) as Promise<void>

/** The two outputs of a connection, which is read no faster than the slower of them. */
function splitOutput(socket: Readable): { stdout: Readable; stderr: Readable } {
  const outputs = { stdout: new PassThrough(), stderr: new PassThrough() }
  let full = 0
  const demuxer = createStreamDemuxer((name, data) => {
    if (outputs[name].write(data)) return
    full++
    socket.pause()
    outputs[name].once('drain', () => {
      if (--full === 0) socket.resume()
    })
  })
  const end = () => {
    outputs.stdout.end()
    outputs.stderr.end()
  }
  socket.on('data', (chunk: Buffer) => demuxer.write(chunk))
  socket.once('end', end).once('close', end)
  for (const output of Object.values(outputs)) output.once('close', () => output.destroyed && !output.readableEnded && socket.destroy())
  return outputs
}

function toDuplex(stream: unknown): Readable & Writable {
  if (stream instanceof Readable && 'write' in stream) return stream as Readable & Writable
  throw new Error('Docker returned no connection.')
}
