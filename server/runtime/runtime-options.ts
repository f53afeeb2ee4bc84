import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'

/** Configuration of the runtimes. The composition root provides it; nothing is read from the environment. */
export interface RuntimeOptions {
  /** Names and labels the resources of this instance on this machine. */
  instance_id: string
  /** Absolute. Bundles, caches and toolchains are below it. */
  data_dir: string
  log: Log
  clock?: Clock
  /** Certificates (PEM) that builds trust in addition to the public ones. */
  ca_file?: string
  /** Registry settings for installs. */
  npmrc_file?: string
  /** The platform's own Node binary. */
  node_path: string
  /** npm's `bin/npm-cli.js`. */
  npm_cli_path: string
  /** `off`: builds and apps of the process runtime run without a sandbox. */
  sandbox?: 'auto' | 'off'
  /** Folders and files hidden from builds and apps: the data folder, the home folder, keys. */
  hidden_paths?: string[]
  /** PATH for programs that builds may need besides Node (git, python); has a default. */
  path?: string
  /** The user's home folder, where version managers keep toolchains. */
  home?: string
  /** The Windows folder, for apps. */
  system_root?: string
  docker?: DockerOptions
}

export type ListEdgeHosts = (projectId: string, address: { host: string; bind: string | null; subnet: string | null }) => Promise<string[]>

export interface SecretText {
  /** undefined: it was not written yet. */
  read(): Promise<string | undefined>
  write(text: string): Promise<void>
}

export interface DockerOptions {
  /** DOCKER_HOST. */
  host?: string
  /** The configuration folder of the docker command; default `{home}/.docker`. */
  config_dir?: string
  /** The user's home folder, which contains the sockets of desktop engines. */
  home?: string
  /** Replaces the search: addresses such as `unix:///var/run/docker.sock`. */
  candidates?: string[]
  /** The edge's hostnames that containers of a project resolve; none if the edge is not reachable at this address of this machine. */
  listEdgeHosts?: ListEdgeHosts
  /** The registry from which the nodes of a swarm pull images, with an optional path. */
  registry?: string
  /** Throws while this instance may not change the swarm. */
  assertLeading?: () => void
  /** Keeps the secrets of a swarm, encrypted. */
  cluster_secrets?: SecretText
  /** Where the engine of each node of a swarm listens, as a template of the swarm for mounts; default `/var/run/docker.sock`. */
  node_socket?: string
  /** The environment of credential helpers. */
  environment?: Record<string, string>
}
