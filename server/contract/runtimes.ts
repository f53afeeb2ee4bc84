/**
 * The runtimes and what the rest of Homeport needs to know about each. A database server has the name of its runtime. No other file
 * decides by a runtime's name. Plain data without dependencies, because the dashboard includes it.
 */
export interface RuntimeTraits {
  label: string
  /** Where an app runs, as the end of a sentence: “deployed …”. */
  placement: string
  /** A sentence for users when this runtime is used because no earlier one is available. */
  summary: string
  /** How to make the runtime available. */
  how_to_start: string
  /** Builds and apps are isolated from this machine and from each other. Without isolation, only the instance owner may deploy. */
  isolates: boolean
  /** Enforces the CPU limit of a project for its apps and builds. */
  limits_cpu: boolean
  /** Apps use the network of this machine, so that they reach its loopback address. */
  uses_host_network: boolean
  /** Apps keep running while Homeport is closed, unless the setting `on_exit` says otherwise. */
  keeps_apps_running: boolean
  /** Builds Dockerfiles. Otherwise apps in other languages than JavaScript are built with the toolchains of this machine. */
  builds_dockerfiles: boolean
  /** Files outside of volumes last as long as their version. Otherwise they last as long as a replica, which ends with a restart. */
  keeps_written_files: boolean
  /** Runs prebuilt images, such as those of managed services. */
  runs_images: boolean
  /** Images are downloaded on first use. */
  pulls_images: boolean
  /** Apps run on several machines. Not missed where there is only one. */
  is_cluster: boolean
  /** The kind of PostgreSQL server for the databases of its projects. */
  database_server: 'container' | 'embedded'
}

/** In order of preference: without `--runtime`, the first available one is used. */
export const runtimes = {
  swarm: {
    label: 'Swarm',
    placement: 'in a Docker Swarm cluster',
    summary: 'Apps run on the nodes of a Docker Swarm cluster.',
    how_to_start: 'Make this machine a manager of a swarm with homeport node init, then restart Homeport (homeport help cluster).',
    isolates: true,
    limits_cpu: true,
    uses_host_network: false,
    keeps_apps_running: true,
    builds_dockerfiles: true,
    keeps_written_files: false,
    runs_images: true,
    pulls_images: true,
    is_cluster: true,
    database_server: 'container',
  },
  docker: {
    label: 'Docker',
    placement: 'in Docker',
    summary: 'Apps run in containers.',
    how_to_start: 'Install or start a Docker engine (Docker Desktop, OrbStack, Colima, Podman), then restart Homeport.',
    isolates: true,
    limits_cpu: true,
    uses_host_network: false,
    keeps_apps_running: true,
    builds_dockerfiles: true,
    keeps_written_files: false,
    runs_images: true,
    pulls_images: true,
    is_cluster: false,
    database_server: 'container',
  },
  process: {
    label: 'Process',
    placement: 'as a process',
    summary: 'Apps run as processes on this machine, without isolation.',
    how_to_start: 'Restart Homeport.',
    isolates: false,
    limits_cpu: false,
    uses_host_network: true,
    keeps_apps_running: false,
    builds_dockerfiles: false,
    keeps_written_files: true,
    runs_images: false,
    pulls_images: false,
    is_cluster: false,
    database_server: 'embedded',
  },
} as const satisfies Record<string, RuntimeTraits>

export type RuntimeName = keyof typeof runtimes

export const runtimeNames = Object.keys(runtimes) as RuntimeName[]

export const isRuntimeName = (name: string): name is RuntimeName => Object.hasOwn(runtimes, name)

/** How to make a runtime available that runs images, for an error about one that does not. */
export const howToRunImages = Object.values(runtimes).find(({ runs_images, is_cluster }) => runs_images && !is_cluster)?.how_to_start ?? ''

/** The traits of a runtime that an instance names. Another version of Homeport may have other runtimes. */
export const findRuntimeTraits = (name: string): RuntimeTraits | undefined => (isRuntimeName(name) ? runtimes[name] : undefined)

/** Another version of Homeport may have a runtime that this one does not know. */
export const isClusterRuntime = (name: string | undefined): boolean =>
  Object.entries(runtimes).some(([known, { is_cluster }]) => is_cluster && known === name)
