import type Docker from 'dockerode'
import type { Clock } from '../../lib/clock.ts'
import { execInContainer } from './exec.ts'
import type { HealthcheckResult } from '../runtime.ts'

const defaultTimeout_ms = 30_000

/** HEALTHCHECK of an image, as in the container's settings. */
interface Healthcheck {
  Test?: string[]
  /** Nanoseconds. */
  Timeout?: number
}

/** The command of a HEALTHCHECK; undefined when there is none. */
export function parseHealthcheckCommand({ Test: [kind, ...args] = [] }: Healthcheck, shell: string[] = ['/bin/sh', '-c']): string[] | undefined {
  if (args.length === 0) return undefined
  if (kind === 'CMD') return args
  return kind === 'CMD-SHELL' ? [...shell, args.join(' ')] : undefined
}

/**
 * Runs the image's HEALTHCHECK once in its container. Docker's own runs start after its interval, 30 s by default, which would delay the deployment.
 */
export async function runHealthcheck(container: Docker.Container, command: string[], check: Healthcheck, clock: Clock): Promise<HealthcheckResult> {
  const { code, output } = await execInContainer(container, command, check.Timeout ? check.Timeout / 1e6 : defaultTimeout_ms, clock)
  if (code === 'late') return { passed: false, output: 'The check exceeded its timeout.' }
  return { passed: code === 0, output: output.trim().split('\n').at(-1)?.slice(0, 200) ?? '' }
}
