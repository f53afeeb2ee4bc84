import type Docker from 'dockerode'
import { ReplicaCommandError } from '../runtime.ts'
import { toReadable } from './engine.ts'
import { getStatusCode } from './errors.ts'
import { createStreamDemuxer } from './stream-demuxer.ts'

const maxErrors_chars = 8_000

/** Runs a command in a running container, streams its input and output, and throws at the end if it failed. */
export async function* runInContainer(
  container: Docker.Container,
  command: string[],
  input: AsyncIterable<Uint8Array> | null,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  signal.throwIfAborted()
  const hasInput = input !== null
  const exec = await container.exec({ Cmd: command, AttachStdin: hasInput, AttachStdout: true, AttachStderr: true }).catch((error: unknown) => {
    // 404, 409: the container has ended or was removed.
    const status = getStatusCode(error)
    throw status === 404 || status === 409 ? new ReplicaCommandError(null, 'The container is not running.') : error
  })
  const duplex = await exec.start({ hijack: true, stdin: hasInput })
  const stream = toReadable(duplex)
  const abort = () => void stream.destroy(signal.reason as Error)
  signal.addEventListener('abort', abort, { once: true })
  let inputError: { error: unknown } | undefined
  const sending = sendInput(duplex, input).catch((error: unknown) => {
    inputError = { error }
    stream.destroy()
  })
  let errors = ''
  const parts: Buffer[] = []
  const demuxer = createStreamDemuxer((name, data) => {
    if (name === 'stdout') parts.push(Buffer.from(data))
    else errors = (errors + data.toString()).slice(-maxErrors_chars)
  })
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      demuxer.write(chunk)
      yield* parts.splice(0)
    }
    if (inputError) throw inputError.error
    const { ExitCode } = await exec.inspect()
    if (ExitCode !== 0) throw new ReplicaCommandError(ExitCode, errors.trim())
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw inputError ? inputError.error : error
  } finally {
    signal.removeEventListener('abort', abort)
    stream.destroy()
    await sending
  }
}

/** A command that exits before reading all input is not an error here: its exit code decides. */
async function sendInput(stream: NodeJS.ReadWriteStream, input: AsyncIterable<Uint8Array> | null): Promise<void> {
  if (input === null) return
  let isClosed = false
  const closed = new Promise<void>((resolve) => {
    const onClose = () => {
      isClosed = true
      resolve()
    }
    stream.once('close', onClose).once('error', onClose)
  })
  for await (const chunk of input) {
    if (isClosed) return
    if (!stream.write(chunk)) await Promise.race([new Promise<void>((resolve) => stream.once('drain', resolve)), closed])
  }
  if (!isClosed) stream.end()
}
