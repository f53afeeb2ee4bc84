import type Docker from 'dockerode'
import type { Clock } from '../../lib/clock.ts'
import { createStreamDemuxer } from './stream-demuxer.ts'
import { toReadable } from './engine.ts'
import { getStatusCode } from './errors.ts'

const maxOutput_bytes = 65_536

/** Runs a command in a running container. `code` is null when Docker could not run it or the container no longer exists. */
export async function execInContainer(
  container: Docker.Container,
  command: string[],
  timeout_ms: number,
  clock: Clock,
): Promise<{ code: number | 'late' | null; output: string }> {
  try {
    const exec = await container.exec({ Cmd: command, AttachStdout: true, AttachStderr: true })
    const stream = toReadable(await exec.start({ hijack: true, stdin: false }))
    let output = Buffer.alloc(0)
    const demuxer = createStreamDemuxer((_, data) => {
      output = Buffer.concat([output, data]).subarray(-maxOutput_bytes)
    })
    let isTimedOut = false
    const timer = clock.setTimeout(() => {
      isTimedOut = true
      stream.destroy()
    }, timeout_ms)
    await new Promise<void>((resolve) => {
      stream
        .on('data', (chunk: Buffer) => demuxer.write(chunk))
        .once('end', resolve)
        .once('close', resolve)
        .once('error', () => resolve())
    })
    timer.cancel()
    if (isTimedOut) return { code: 'late', output: '' }
    const { ExitCode } = await exec.inspect()
    return { code: ExitCode, output: output.toString('utf8') }
  } catch (error) {
    // 404, 409: the container has ended or was removed. 400: Docker cannot run the command.
    const status = getStatusCode(error)
    if (status === 404 || status === 409) return { code: null, output: '' }
    if (status === 400 && error instanceof Error) return { code: null, output: error.message }
    throw error
  }
}
