import type { RuntimeName } from '../contract/deployments.ts'
import { createDockerRuntime } from './docker/docker-runtime.ts'
import { createDockerEngine, type DockerEngine } from './docker/engine.ts'
import { createProcessRuntime } from './process/process-runtime.ts'
import type { Runtime, RuntimeOptions } from './runtime.ts'

/** The drivers by name. Making them opens nothing and starts nothing: an engine is looked for when one is first asked. */
export function createRuntimes(options: RuntimeOptions, engine: DockerEngine = createDockerEngine(options)): Record<RuntimeName, Runtime> {
  return { docker: createDockerRuntime(options, engine), process: createProcessRuntime(options) }
}
