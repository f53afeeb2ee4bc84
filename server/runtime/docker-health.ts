import type Docker from 'dockerode'
import type { Clock } from '../lib/clock.ts'
import { runInside } from './docker-exec.ts'
import type { CheckResult } from './runtime.ts'

const defaultTimeout_ms = 30_000

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
  const { code, output } = await runInside(container, command, check.Timeout ? check.Timeout / 1e6 : defaultTimeout_ms, clock)
  if (code === 'late') return { passed: false, output: 'It took longer than its timeout.' }
  return { passed: code === 0, output: output.trim().split('\n').at(-1)?.slice(0, 200) ?? '' }
}
