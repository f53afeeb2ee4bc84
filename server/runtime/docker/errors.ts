import { EngineTimeoutError } from './connection.ts'

export function getStatusCode(error: unknown): number | undefined {
  return typeof error === 'object' && error !== null && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : undefined
}

/** Whether an error means that Docker cannot be reached, as opposed to a refused request. */
export const isConnectionError = (error: unknown): boolean =>
  getStatusCode(error) === undefined &&
  error instanceof Error &&
  (error instanceof EngineTimeoutError ||
    /ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|socket hang up/.test(`${(error as NodeJS.ErrnoException).code ?? ''} ${error.message}`))
