import type { Readable, Writable } from 'node:stream'
import type { TerminalSize } from '../contract/command-frames.ts'
import type { FailureCode } from '../contract/deployments.ts'
import type { RuntimeName } from '../contract/runtimes.ts'
import type { BuildPlan, UsedTool } from '../contract/build-plan.ts'
import type { StepLog } from '../contract/build-log.ts'
import type { DoctorCheck } from '../contract/instance.ts'
import type { VolumeMount, WrittenFiles } from './written-paths.ts'
import type { RegistryAccess } from './registries.ts'
import type { RuntimeNodes } from './nodes.ts'
import type { RuntimeVolumes } from './runtime-volumes.ts'

export type { ListEdgeHosts, RuntimeOptions } from './runtime-options.ts'

interface ReplicaUsage {
  /** Percent of one core since the last call, or since the start. */
  cpu_percent: number
  /** CPU time of the processes that run now, since their start. */
  cpu_ms: number
  memory_mb: number
}

/**
 * Builds and runs apps. The drivers pass the suite in `test/runtime`; `contract/runtimes.ts` lists them with what other parts need to know. A runtime does not know project rows,
 * routes or the API. All its resources are labelled with ids, so that `list` finds them after a crash.
 */
export interface Runtime extends RuntimeVolumes {
  readonly name: RuntimeName

  /** The machines on which it runs apps; absent for one. */
  readonly nodes?: RuntimeNodes

  /**
   * Whether the runtime can be used now, and with how many machines if it has several. `is_member`: this machine belongs to the cluster, or cannot say that
   * it does not. Never throws; takes less than 2 s.
   */
  probe(): Promise<{ available: boolean; version: string | null; reason: string; nodes?: number; is_member?: boolean }>

  /** Additional checks for the doctor. Quick ones are repeated by the dashboard. */
  check?(isQuick: boolean): Promise<DoctorCheck[]>

  /** Opens the build of a source folder. Does nothing before `install`. */
  openBuild(request: BuildRequest): Build

  /** Makes a prebuilt image available: pulls it when it is missing. Throws `BuildFailure`. */
  useImage(request: ImageRequest, log: StepLog): Promise<Artifact>

  /**
   * Starts one replica of an artifact and resolves once the process or container runs, before it accepts requests. Throws `StartFailure`. The output
   * goes to `onLine`; the exit goes to `onExit`, exactly once.
   */
  start(request: StartRequest): Promise<Replica>

  /**
   * Starts a one-off command of an artifact, whose input and output are the caller's and are not stored. Throws `StartFailure`. `stop` ends it, and
   * must be called after its exit too. When the platform dies, `list` finds it; `adopt` must not be called for it.
   */
  startAttached(request: AttachedRequest): Promise<AttachedReplica>

  /**
   * Existing and leftover replicas, for recovery after a crash. `docker` returns running containers, which `adopt` accepts; `process` returns
   * orphans of a dead platform, which can only be stopped.
   */
  list(): Promise<ExistingReplica[]>

  /**
   * Takes over a replica that survived the platform: output after `existing.last_line_at` (all output when null) and the exit are reported as for
   * `start`. Returns `undefined` when the replica no longer exists; a replica that has ended reports its exit. A frozen replica stays frozen.
   */
  adopt(existing: ExistingReplica, observer: ReplicaObserver): Promise<Replica | undefined>

  /** Stops and removes a replica by id (SIGTERM, then SIGKILL after `grace_ms`); no error if it no longer exists. */
  stop(replicaId: string, grace_ms: number): Promise<void>

  /** Freezes a replica: it keeps its memory and uses no CPU time. No error if it is frozen already; throws where freezing is not supported. */
  freeze(replicaId: string): Promise<void>

  /** Resumes a frozen replica. Resolves once it runs; throws `StartFailure` when it no longer exists. */
  thaw(replicaId: string): Promise<void>

  /** Runs a command in a running replica: its standard input, and output. Reading throws `ReplicaCommandError` when it failed. */
  runInReplica(replicaId: string, command: string[], input: AsyncIterable<Uint8Array> | null, signal: AbortSignal): AsyncIterable<Uint8Array>

  /**
   * Current resource use of a replica. null when the replica does not exist or its use is unknown. `isPassive`: a sample that does not count as a call
   * for `cpu_percent`.
   */
  usage(replicaId: string, options?: { isPassive: boolean }): Promise<ReplicaUsage | null>

  /** The memory that more replicas could use, in MB; null: unknown. */
  readAvailableMemory(): Promise<number | null>

  /**
   * The files that an app created or changed outside of volumes since its build, except those that `written-paths.ts` excludes. The work is bounded,
   * and links are not followed. Undefined when the owner has no files.
   */
  listWrittenFiles(owner: WrittenFilesOwner): Promise<WrittenFiles | undefined>

  /**
   * The files that an app has at a path outside of volumes, as a tar stream for `importVolume`: the content of a folder, or a file with the additional
   * files of SQLite. Undefined if nothing exists there, or if the path contains a symlink. The replica should be frozen.
   */
  exportWrittenFiles(owner: WrittenFilesOwner, path: string, isFile: boolean): Promise<Readable | undefined>

  /** Removes a project's caches of dependencies and frameworks. */
  removeProjectCaches(projectId: string): Promise<void>

  /** Removes the caches of a project that continues to exist, whose next builds use no results of earlier ones. It must not be building. */
  clearBuildCache(projectId: string): Promise<void>

  /** Removes an artifact (image, bundle) and other resources of the deployment; no error if they no longer exist. */
  discard(deploymentId: string, artifact: Artifact | null): Promise<void>

  /**
   * Where apps run on several machines: removes the images from their registry and from the other machines that nothing uses. `usedIds`: those of the
   * prebuilt images of all deployments, which `discard` leaves because other projects may use them.
   */
  pruneImages?(usedIds: ReadonlySet<string>): Promise<void>

  /** Closes the runtime's own sockets and readers. Running replicas continue. */
  close(): Promise<void>
}

export interface BuildRequest {
  project_id: string
  /** The source may be untrusted, so this build shares no cache with those of the project. */
  is_untrusted?: boolean
  deployment_id: string
  /** Distinguishes builds of one deployment: the name of a service; null for the main one. */
  service?: string | null
  /** The source: a folder that belongs to this deployment alone. The runtime may change or move it; the caller removes the rest. */
  folder: string
  /** Another build of the deployment needs the unchanged folder. */
  keeps_folder?: boolean
  plan: BuildPlan
  /** Decrypted variables of the target environment. Must never be in an image layer, an argument or a log. */
  variables: Record<string, string>
  /** The variables that RUN steps of a Dockerfile may mount as secrets. */
  build_secrets: Record<string, string>
  memory_mb: number
  /** Cores of the CPU; null: all. */
  cpus: number | null
  /** Uses no results of earlier builds of the project; its results replace them in the caches. */
  skips_cache: boolean
  registries: RegistryAccess
  signal: AbortSignal
}

export interface ImageRequest {
  image: string
  registries: RegistryAccess
  /** Whether an image on this machine is replaced by a newer one with the same name: `moving_tags` for names such as `latest`. */
  refreshes: 'none' | 'moving_tags' | 'all'
  signal: AbortSignal
}

/**
 * One build: `install`, then `build`, each at most once; `close` in any case. Both throw `BuildFailure` when the source is at fault, and an abort
 * error within 1 s of the abort of the request's signal.
 */
export interface Build {
  /** Installs the dependencies, if the plan has a command for it. */
  install(log: StepLog): Promise<void>
  /** Runs the build command, if the plan has one, and creates the artifact. */
  build(log: StepLog): Promise<Artifact>
  /** Removes temporary files and containers. Without an artifact nothing is left behind. */
  close(): Promise<void>
}

/** The result of a build, stored in the deployment's row as JSON. */
export type Artifact =
  /** A static site: a folder of files that the edge serves. */
  | { kind: 'static'; directory: string; spa_fallback: boolean; bytes: number }
  /** `docker`: an image by name. `id`: of a prebuilt image, because its name may be moved to another image. */
  | { kind: 'image'; image: string; id?: string; port: number | null; bytes: number }
  /** `process`: a folder with all files and the start command. `variables` are set by the framework; variables of the project override them. */
  | {
      kind: 'bundle'
      directory: string
      command: string[]
      /** null: the app uses no Node. */
      node_version: string | null
      package_manager: { name: 'npm' | 'pnpm' | 'yarn'; version: string | null } | null
      variables: Record<string, string>
      /** Of an app in another language; paths are relative to the directory. */
      tools?: UsedTool[]
      program_directories?: string[]
      working_directory?: string
      bytes: number
    }

export interface StartRequest extends ReplicaObserver {
  project_id: string
  deployment_id: string
  artifact: Extract<Artifact, { kind: 'image' | 'bundle' }>
  /** The complete environment of the app, without PORT and HOST, which the runtime sets. */
  variables: Record<string, string>
  memory_mb: number
  /** Cores of the CPU. Ignored by a runtime whose traits do not say `limits_cpu`. */
  cpus: number
  /** The port on which the app was found before, if it is not PORT. */
  listen_port: number | null
  /** Additional ports with addresses, each with a variable `PORT_<number>`, which the runtime sets. */
  ports?: number[]
  /** Set when the deployment has several services. */
  service?: ServiceRequest
  /** Labels that the node must have, as `key=value`, on a cluster. */
  node_labels?: readonly string[]
  /** Distinguishes the replicas of a service, from 1. Absent: the first. `list` returns it. */
  replica?: number
  signal: AbortSignal
}

export interface AttachedRequest extends Omit<StartRequest, keyof ReplicaObserver | 'listen_port' | 'ports' | 'service' | 'replica' | 'node_labels'> {
  /** `entrypoint` and `command` are not used. */
  service: ServiceRequest
  /** The program and its arguments, which an image passes to its entrypoint; null: an interactive shell. */
  command: string[] | null
  /** Null: without a terminal. */
  terminal: TerminalSize | null
}

/** A running one-off command. Nothing is buffered: a caller that does not read its output blocks it. */
export interface AttachedReplica {
  id: string
  input: Writable
  /** For a terminal: everything. */
  stdout: Readable
  stderr: Readable | null
  /** No effect without a terminal, and after the exit. */
  resize(size: TerminalSize): Promise<void>
  /** The exit. The output may have more to read. */
  exited: Promise<ReplicaExit>
}

/** The properties of a replica that is one of several services. */
export interface ServiceRequest {
  name: string
  /** Replace those of the artifact; null keeps them. A command without an entrypoint keeps the image's entrypoint. */
  entrypoint: string[] | null
  command: string[] | null
  /** The folder in which the command runs; relative to the app's folder where it is not absolute. null keeps it. */
  working_directory: string | null
  /** The value of PORT, where the runtime does not assign ports itself; null: its default. */
  port: number | null
  /**
   * Private networks, by name, with the host names that the replica has in each. Created at the first use and removed with their last replica. A
   * runtime on the host network has none.
   */
  networks: { name: string; host_names: string[] }[]
  /** `path` is absolute, or relative to the app's folder. Volumes are created at the first use and outlive replicas. */
  volumes: VolumeMount[]
  /** Replaces the HEALTHCHECK of the image. Times in seconds. */
  health_command: { command: string[]; timeout_s: number } | null
  /** A prebuilt image may change users when it starts, as official images do; an app that was built here may not. */
  is_ready_image: boolean
  /** Opaque; `list` returns it, so that the caller recognizes a replica whose configuration is still current. */
  definition: string
}

export interface ReplicaObserver {
  /** A line of output without its line end. Called in order; must not throw. */
  onLine(stream: 'stdout' | 'stderr', line: string): void
  /** The exit, after the last line was delivered. */
  onExit(exit: ReplicaExit): void
}

export interface ReplicaExit {
  code: number | null
  signal: string | null
  out_of_memory: boolean
}

export interface Replica {
  /** Container id, or the process runtime's own id. */
  id: string
  deployment_id: string
  /** The start command, for messages. */
  command: string
  /** Address at which the edge and the health check reach the assigned port. */
  host: string
  port: number
  /** The value of PORT. */
  assigned_port: number
  /** Where the edge reaches the additional ports of the request. */
  ports?: AdditionalPort[]
  /** The name of its node, of a cluster. */
  node?: string
  /** The replica uses the network of this machine, so the address on which it listens determines who can reach it. */
  is_on_host?: true
  /** Ports on which the replica listens now; empty when unknown. */
  getListeningPorts(): Promise<ListeningPort[]>
  /** Runs the image's own HEALTHCHECK once; absent when it has none. */
  runHealthcheck?(): Promise<HealthcheckResult>
}

export interface AdditionalPort {
  port: number
  /** On which the app listens: the value of `PORT_<number>`. */
  assigned_port: number
  endpoint: Endpoint
}

export interface Endpoint {
  host: string
  port: number
}

export interface ListeningPort {
  port: number
  loopback_only: boolean
  /** EXPOSE in the Dockerfile names it. */
  is_exposed: boolean
  /** Endpoints for the edge, in the order to try. Empty for a container's loopback address, or for a port that Docker would have to publish. */
  endpoints: Endpoint[]
}

export interface HealthcheckResult {
  passed: boolean
  /** The last line of the output. */
  output: string
}

export interface ExistingReplica {
  id: string
  project_id: string
  deployment_id: string
  /** Of a `ServiceRequest`; null without one. */
  service: string | null
  definition: string | null
  /** Of a `StartRequest`. */
  replica: number
  running: boolean
  /** Whether a running replica is frozen. */
  frozen: boolean
  exit: ReplicaExit | null
  adoptable: boolean
  /** Set by the caller before `adopt`: the time (ms since 1970) of the last stored line; null when there is none. */
  last_line_at: number | null
  /** Set by the caller before `adopt`: the port on which the app was found before, if it is not PORT. */
  listen_port: number | null
}

/** A build that failed because of the source. `line` is the log line that shows the cause, when known. */
export class BuildFailure extends Error {
  readonly code: FailureCode
  readonly hint: string
  constructor(code: FailureCode, message: string, hint: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'BuildFailure'
    this.code = code
    this.hint = hint
  }
}

/** A command of the project, or its app, failed; its output may show the cause. */
export class CommandFailure extends BuildFailure {}

/** A command in a replica failed. `exit_code` is null when it could not run; `message` is what it wrote to standard error. */
export class ReplicaCommandError extends Error {
  readonly exit_code: number | null
  constructor(exit_code: number | null, message: string) {
    super(message)
    this.exit_code = exit_code
  }
}

export class StartFailure extends BuildFailure {}

/** The owner of the files that an app wrote: its replica, or, if replicas have none, its artifact. */
export interface WrittenFilesOwner {
  replica_id: string | null
  artifact: Artifact
}
