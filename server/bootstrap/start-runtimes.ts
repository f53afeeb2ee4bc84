import { type Environment, pickVariables, variableOf } from '../lib/environment.ts'
import type { Lease } from '../maintenance/standby/lease.ts'
import { chooseRuntime } from '../runtime/choose-runtime.ts'
import { createDockerEngine } from '../runtime/docker/engine.ts'
import { createRuntimes } from '../runtime/index.ts'
import type { PlatformOptions } from '../options.ts'
import type { PlatformHost } from '../platform.ts'
import type { DockerOptions } from '../runtime/runtime-options.ts'
import { createNpmRunner } from '../runtime/process/toolchains.ts'
import type { ListEdgeHosts, RuntimeOptions } from '../runtime/runtime.ts'
import { createClusterIdentityStore } from '../store/cluster-identity.ts'
import type { PlatformContext } from './context.ts'
import { assertLeading, hasLeaseMemory, startLease, withoutCluster } from './start-lease.ts'

export type PlatformRuntimes = Awaited<ReturnType<typeof startRuntimes>>

/** Creates the client of the Docker engine and the runtimes by name, and chooses the runtime of new deployments. */
export async function startRuntimes(context: PlatformContext) {
  const { options, host, identity, log, clock, store, sealer } = context
  /** Set once the edge exists. */
  let listEdgeHosts: ListEdgeHosts = async () => []
  /** Set if apps run on a swarm, or did so before. */
  let lease: Lease | undefined
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
      ...createDockerOptions(options, host),
      listEdgeHosts: (projectId, address) => listEdgeHosts(projectId, address),
      assertLeading: () => assertLeading(lease),
      cluster_secrets: createClusterIdentityStore(store.db, sealer),
    },
  }
  const docker = createDockerEngine(runtimeOptions)
  const runtimes = createRuntimes(runtimeOptions, docker)
  const edgeHosts = { connect: (list: ListEdgeHosts) => void (listEdgeHosts = list) }
  const hasLed = hasLeaseMemory(options.data_dir)
  const runtime = await chooseRuntime(runtimes, options.runtime, { hasRegistry: options.registry !== null, hasLed })
  // Earlier apps of the swarm belong to who leads it, whatever new ones run on.
  const leads = runtime.name === 'swarm' || (hasLed && (await runtimes.swarm.probe()).is_member)
  if (leads) lease = await startLease(context, docker)
  else runtimes.swarm = { ...runtimes.swarm, probe: async () => ({ available: false, version: null, reason: withoutCluster }) }
  return {
    docker,
    runtimes,
    lease,
    /** Without a lease there is nothing to lose. */
    lost: lease?.lost ?? new Promise<string>(() => {}),
    edgeHosts,
    runNpm: createNpmRunner(runtimeOptions),
    runtime,
  }
}

/** How the Docker engine is found and used. */
export const createDockerOptions = (options: PlatformOptions, host: Pick<PlatformHost, 'docker_candidates' | 'node_socket'>): DockerOptions => ({
  home: options.home,
  environment: pickVariables(options.environment, helperVariables),
  ...configFolder(options.environment),
  ...(options.registry === null ? {} : { registry: options.registry }),
  ...(options.docker_host === null ? {} : { host: options.docker_host }),
  ...(host.docker_candidates === undefined ? {} : { candidates: host.docker_candidates }),
  ...(host.node_socket === undefined ? {} : { node_socket: host.node_socket }),
})

/** What Docker's credential helpers need to find keychains, desktop sessions and cloud accounts. */
const helperVariables = [
  'PATH HOME USER LOGNAME LANG TMPDIR GNUPGHOME PASSWORD_STORE_DIR DOCKER_CONFIG CLOUDSDK_CONFIG GOOGLE_APPLICATION_CREDENTIALS',
  'DISPLAY WAYLAND_DISPLAY XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_DATA_HOME DBUS_SESSION_BUS_ADDRESS GPG_TTY',
  'USERPROFILE APPDATA LOCALAPPDATA SystemRoot TEMP',
  'AWS_PROFILE AWS_REGION AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN',
].flatMap((names) => names.split(' '))

function configFolder(environment: Environment): { config_dir?: string } {
  const config_dir = variableOf(environment, 'DOCKER_CONFIG')
  return config_dir ? { config_dir } : {}
}

/** Folders of this machine's programs. Windows does not fix the case of either variable's name. */
export function systemPaths(environment: Environment, platform?: NodeJS.Platform): Pick<RuntimeOptions, 'path' | 'system_root'> {
  const path = variableOf(environment, 'PATH', platform)
  const system_root = variableOf(environment, 'SystemRoot', platform)
  return { ...(path === undefined ? {} : { path }), ...(system_root === undefined ? {} : { system_root }) }
}
