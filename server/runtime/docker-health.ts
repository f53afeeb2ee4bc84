import type Docker from 'dockerode'
import type { Clock } from '../lib/clock.ts'
import { createFrameScanner } from './docker-frames.ts'
import { readable, statusOf } from './docker-engine.ts'
import type { CheckResult } from './runtime.ts'

const defaultTimeout_ms = 30_000
const output_bytes = 4_096

/** HEALTHCHECK of an image as it is in its container's settings. */
interface Healthcheck {
  Test?: string[]
  /** Nanoseconds. */
  Timeout?: number
}

/** The command of a HEALTHCHECK; undefined when there is none. */
export function checkCommand({ Test: [kind, ...words] = [] }: Healthcheck, shell: string[] = ['/bin/sh', '-c']): string[] | undefined {
  if (words.length === 0) return undefined
  if (kind === 'CMD') return words
  return kind === 'CMD-SHELL' ? [...shell, words.join(' ')] : undefined
}

/**
 * Runs the image's HEALTHCHECK in its container once. The engine's own runs come at its interval, 30 s by default, which a
 * deployment should not wait for.
 */
export async function runCheck(container: Docker.Container, command: string[], check: Healthcheck, clock: Clock): Promise<CheckResult> {
  try {
    const exec = await container.exec({ Cmd: command, AttachStdout: true, AttachStderr: true })
    const stream = readable(await exec.start({ hijack: true, stdin: false }))
    let output = Buffer.alloc(0)
    const frames = createFrameScanner((_, data) => {
      output = Buffer.concat([output, data]).subarray(-output_bytes)
    })
    let isLate = false
    const timer = clock.setTimeout(
      () => {
        isLate = true
        stream.destroy()
      },
      check.Timeout ? check.Timeout / 1e6 : defaultTimeout_ms,
    )
    await new Promise<void>((resolve) => {
      stream
        .on('data', (chunk: Buffer) => frames.write(chunk))
        .once('end', resolve)
        .once('close', resolve)
        .once('error', () => resolve())
    })
    timer.cancel()
    if (isLate) return { passed: false, output: 'It took longer than its timeout.' }
    const { ExitCode } = await exec.inspect()
    return { passed: ExitCode === 0, output: output.toString('utf8').trim().split('\n').at(-1)?.slice(0, 200) ?? '' }
  } catch (error) {
    // The container has ended, or is gone.
    if (statusOf(error) === 404 || statusOf(error) === 409) return { passed: false, output: '' }
    // The engine cannot run the command.
    if (statusOf(error) === 400 && error instanceof Error) return { passed: false, output: error.message.slice(0, 200) }
    throw error
  }
}
