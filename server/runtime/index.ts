import type { RuntimeName } from '../contract/deployments.ts'
import { createDockerRuntime } from './docker.ts'
import { createEngine, type Engine } from './docker-engine.ts'
import { createProcessRuntime } from './process.ts'
import type { Runtime, RuntimeOptions } from './runtime.ts'

/** The drivers by name. Making them opens nothing and starts nothing: an engine is looked for when one is first asked. */
export function createRuntimes(options: RuntimeOptions, engine: Engine = createEngine(options)): Record<RuntimeName, Runtime> {
  return { docker: createDockerRuntime(options, engine), process: createProcessRuntime(options) }
}
