import { limits } from '../contract/limits.ts'
import type { ServiceConfig, ServiceHealthCheck } from '../contract/project-config.ts'

/** The request of a service's health check, its timeout and its interval. */
export interface HealthRequest {
  path: string
  timeout_ms: number
  /** Absent: short at first. */
  interval_ms?: number
}

/** The values of the source for a service, else those of its project. A command gets at least the time of its own fields. */
export function createHealthRequest(
  check: ServiceHealthCheck | null,
  { health_path, health_timeout_s }: { health_path: string; health_timeout_s: number },
): HealthRequest {
  if (check?.kind === 'path')
    return {
      path: check.path,
      timeout_ms: (check.timeout_s ?? health_timeout_s) * 1_000,
      ...(check.interval_s !== undefined && { interval_ms: check.interval_s * 1_000 }),
    }
  const command_s = check ? check.start_period_s + check.retries * check.interval_s : 0
  return { path: health_path, timeout_ms: Math.max(health_timeout_s, command_s) * 1_000 }
}

/** For a service other than the main one, to whose path the project's setting does not apply. */
export const createServiceHealthRequest = ({
  config,
  health_timeout_s,
}: {
  config: Pick<ServiceConfig, 'health_check'>
  health_timeout_s: number
}): HealthRequest => createHealthRequest(config.health_check, { health_path: limits.health_path.default, health_timeout_s })
