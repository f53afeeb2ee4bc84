import type { RuntimeName } from '../contract/runtimes.ts'
import { createDockerRuntime } from './docker/docker-runtime.ts'
import { createDockerEngine, type DockerEngine } from './docker/engine.ts'
import { createProcessRuntime } from './process/process-runtime.ts'
import { createSwarmRuntime } from './swarm/swarm-runtime.ts'
import type { Runtime, RuntimeOptions } from './runtime.ts'

/** The runtimes by name. Creating them opens no connections; Docker is looked for at the first use. */
export function createRuntimes(options: RuntimeOptions, engine: DockerEngine = createDockerEngine(options)): Record<RuntimeName, Runtime> {
  return { swarm: createSwarmRuntime(options, engine), docker: createDockerRuntime(options, engine), process: createProcessRuntime(options) }
}
