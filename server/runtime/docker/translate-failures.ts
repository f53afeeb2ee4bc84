import { BuildFailure } from '../runtime.ts'
import type { DockerEngine } from './engine.ts'
import { isConnectionError } from './errors.ts'

/** Does something with an engine. An error is thrown as a failure that says what to do, if one of the engine itself; an abort stays what it is. */
export type WithPlainFailures = <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>

/**
 * Explains a full disk and a lost connection, which is forgotten, so that the next call reconnects. `explain`: what else the errors of this engine mean.
 */
export function translateFailures(engine: DockerEngine, explain: (error: unknown) => BuildFailure | undefined = () => undefined): WithPlainFailures {
  const toPlainFailure = (error: unknown): unknown => {
    if (error instanceof BuildFailure) return error
    if (/no space left on device/i.test(String(error))) return createEngineFullFailure(error)
    if (!isConnectionError(error)) return explain(error) ?? error
    engine.forgetConnection()
    return new BuildFailure('runtime_unavailable', 'Docker stopped responding.', 'Restart Docker, then deploy again.', error)
  }
  return async (signal, work) => {
    try {
      signal.throwIfAborted()
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      throw toPlainFailure(error)
    }
  }
}

const createEngineFullFailure = (cause: unknown): BuildFailure =>
  new BuildFailure(
    'storage_full',
    'Docker has no disk space left.',
    'Free up space with homeport disk clean (docker system df shows the rest), then deploy again.',
    cause,
  )
