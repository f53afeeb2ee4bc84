import type Docker from 'dockerode'
import type { Clock } from '../lib/clock.ts'
import { createFrameScanner } from './docker-frames.ts'
import { readable, statusOf } from './docker-engine.ts'

const output_bytes = 65_536

/** Runs a command in a container that runs. `code` is null where the engine could not run it, or the container is gone. */
export async function runInside(
  container: Docker.Container,
  command: string[],
  timeout_ms: number,
  clock: Clock,
): Promise<{ code: number | 'late' | null; output: string }> {
  try {
    const exec = await container.exec({ Cmd: command, AttachStdout: true, AttachStderr: true })
    const stream = readable(await exec.start({ hijack: true, stdin: false }))
    let output = Buffer.alloc(0)
    const frames = createFrameScanner((_, data) => {
      output = Buffer.concat([output, data]).subarray(-output_bytes)
    })
    let isLate = false
    const timer = clock.setTimeout(() => {
      isLate = true
      stream.destroy()
    }, timeout_ms)
    await new Promise<void>((resolve) => {
      stream
        .on('data', (chunk: Buffer) => frames.write(chunk))
        .once('end', resolve)
        .once('close', resolve)
        .once('error', () => resolve())
    })
    timer.cancel()
    if (isLate) return { code: 'late', output: '' }
    const { ExitCode } = await exec.inspect()
    return { code: ExitCode, output: output.toString('utf8') }
  } catch (error) {
    // 404, 409: the container has ended, or is gone. 400: the engine cannot run the command.
    const status = statusOf(error)
    if (status === 404 || status === 409) return { code: null, output: '' }
    if (status === 400 && error instanceof Error) return { code: null, output: error.message }
    throw error
  }
}
