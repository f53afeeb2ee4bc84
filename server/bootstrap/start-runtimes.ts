import { type Environment, variableOf } from '../lib/environment.ts'
import { chooseRuntime } from '../runtime/choose-runtime.ts'
import { createDockerEngine } from '../runtime/docker/engine.ts'
import { createRuntimes } from '../runtime/index.ts'
import { createNpmRunner } from '../runtime/process/toolchains.ts'
import type { RuntimeOptions } from '../runtime/runtime.ts'
import type { PlatformContext } from './context.ts'

export type PlatformRuntimes = Awaited<ReturnType<typeof startRuntimes>>

/** Creates the client of the Docker engine and the runtimes by name, and chooses the runtime of new deployments. */
export async function startRuntimes({ options, host, identity, log, clock }: PlatformContext) {
  const runtimeOptions: RuntimeOptions = {
    instance_id: identity.instance_id,
    log,
    clock,
    data_dir: options.data_dir,
    ...(options.ca_file === null ? {} : { ca_file: options.ca_file }),
    ...(options.npmrc_file === null ? {} : { npmrc_file: options.npmrc_file }),
    ...systemPaths(options.environment),
    node_path: options.node_path,
    npm_cli_path: options.npm_cli_path,
    sandbox: options.sandbox,
    hidden_paths: [options.data_dir, options.home, options.master_key_file, options.npmrc_file].filter((path) => path !== null),
    home: options.home,
    docker: {
      home: options.home,
      ...(options.docker_host === null ? {} : { host: options.docker_host }),
      ...(host.docker_candidates === undefined ? {} : { candidates: host.docker_candidates }),
    },
  }
  const docker = createDockerEngine(runtimeOptions)
  const runtimes = createRuntimes(runtimeOptions, docker)
  return { docker, runtimes, runNpm: createNpmRunner(runtimeOptions), runtime: await chooseRuntime(runtimes, options.runtime) }
}

/** Where the programs of this machine are. Windows does not fix the case of either variable's name. */
export function systemPaths(environment: Environment, platform?: NodeJS.Platform): Pick<RuntimeOptions, 'path' | 'system_root'> {
  const path = variableOf(environment, 'PATH', platform)
  const system_root = variableOf(environment, 'SystemRoot', platform)
  return { ...(path === undefined ? {} : { path }), ...(system_root === undefined ? {} : { system_root }) }
}
