import type { FailureCode, RuntimeName } from '../contract/deployments.ts'
import type { BuildPlan } from '../contract/build-plan.ts'
import type { BuildLog } from '../contract/build-log.ts'
import type { DoctorCheck } from '../contract/instance.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'

/**
 * What builds and runs apps. Two drivers stand behind it, `docker` and `process`; both pass the suite in
 * `test/runtime`. A driver knows nothing of projects' rows, routes or the API: it is told what to do, and
 * says what came of it. Everything it makes is labelled with ids, so that after a crash `list` tells what is there.
 */
export interface Runtime {
  readonly name: RuntimeName
  /** Whether it keeps builds and apps from this machine and from each other. Accounts other than the instance owner's use no other. */
  readonly isolates: boolean

  /** Whether it can work now. Never throws; quick (under 2 s). */
  probe(): Promise<{ available: boolean; version: string | null; reason: string }>

  /** What the doctor is to know besides that. */
  check?(): Promise<DoctorCheck>

  /**
   * Makes a runnable artifact of a source folder. Throws `BuildFailure` when the source is at fault, and an abort error
   * within 1 s once `signal` is aborted, with nothing left behind.
   */
  build(request: BuildRequest): Promise<Artifact>

  /**
   * Starts one instance of an artifact and resolves once the process or container runs (not: once it answers).
   * Throws `StartFailure`. Its output goes to `onLine`, its end to `onExit`, exactly once.
   */
  start(request: StartRequest): Promise<Replica>

  /**
   * What of ours runs or is left over, for recovery after a crash. `docker` finds running containers and can `adopt`
   * them; `process` finds orphans of a dead platform, which it can only stop.
   */
  list(): Promise<ExistingReplica[]>

  /**
   * Takes over an instance that survived the platform: output after `found.last_line_at` (all of it when null), and its end,
   * are reported as for `start`. `undefined` when it is gone by now; an instance that ended meanwhile reports its end. One that
   * is frozen stays so.
   */
  adopt(existing: ExistingReplica, observer: ReplicaObserver): Promise<Replica | undefined>

  /** Stops and removes an instance by id (SIGTERM, then SIGKILL after `grace_ms`); no error if it is gone already. */
  stop(replicaId: string, grace_ms: number): Promise<void>

  /** Freezes an instance: memory is kept, no processor time is used. No error if it is frozen already; throws where it cannot be done. */
  freeze(replicaId: string): Promise<void>

  /** Lets a frozen instance go on. Resolves once it runs; throws `StartFailure` when it is gone. */
  thaw(replicaId: string): Promise<void>

  /** What an instance uses now; `cpu_percent` of one core since the last call. null when it is gone or not known. */
  usage(replicaId: string): Promise<{ cpu_percent: number; memory_mb: number } | null>

  /** Frees what is kept for a project between its deployments (caches of dependencies and frameworks). */
  removeProjectCaches(projectId: string): Promise<void>

  /** Frees an artifact (image, bundle) and what else the deployment left; no error if it is gone already. */
  discard(deploymentId: string, artifact: Artifact | null): Promise<void>

  /** Ends what the driver itself opened (sockets, readers). Running instances stay as they are. */
  close(): Promise<void>
}

export interface BuildRequest {
  project_id: string
  deployment_id: string
  /** The source: a folder that belongs to this deployment alone. It may be changed or moved away; the caller removes what is left of it. */
  folder: string
  plan: BuildPlan
  /** Variables of the target's environment, decrypted. Never in an image layer, an argument or a log. */
  variables: Record<string, string>
  memory_mb: number
  cpus: number
  log: BuildLog
  signal: AbortSignal
}

/** What a build left, as stored in the deployment's row (JSON). */
export type Artifact =
  /** A static site: a folder of files that the edge serves itself. */
  | { kind: 'static'; directory: string; spa_fallback: boolean; bytes: number }
  /** `docker`: an image by id. */
  | { kind: 'image'; image: string; port: number | null; bytes: number }
  /** `process`: a folder with everything in it and the command that starts it. `variables` are the framework's own; the project's win. */
  | {
      kind: 'bundle'
      directory: string
      command: string[]
      node_version: string
      package_manager: { name: 'npm' | 'pnpm' | 'yarn'; version: string | null } | null
      variables: Record<string, string>
      bytes: number
    }

export interface StartRequest extends ReplicaObserver {
  project_id: string
  deployment_id: string
  artifact: Extract<Artifact, { kind: 'image' | 'bundle' }>
  /** The complete environment of the app but for PORT and HOST, which the driver sets. */
  variables: Record<string, string>
  memory_mb: number
  /** The port that the app was last found on, when that is not PORT. */
  listen_port: number | null
  signal: AbortSignal
}

export interface ReplicaObserver {
  /** A line of output without its line end. Called in order; never throws. */
  onLine(stream: 'stdout' | 'stderr', line: string): void
  /** The end, after the last line was delivered. */
  onExit(exit: ReplicaExit): void
}

export interface ReplicaExit {
  code: number | null
  signal: string | null
  out_of_memory: boolean
}

export interface Replica {
  /** Container id, or the driver's own id of a process. */
  id: string
  deployment_id: string
  /** What started it, for messages. */
  command: string
  /** Where the edge and the health check reach the port that the app was told. */
  host: string
  port: number
  /** The value of PORT. */
  assigned_port: number
  /** It is in the network of this machine itself, so that what it listens on decides who reaches it. */
  is_on_host?: true
  /** Ports that it listens on by now; empty when not known. */
  getListeningPorts(): Promise<ListeningPort[]>
  /** Runs the image's own HEALTHCHECK once; absent when it has none. */
  runHealthcheck?(): Promise<HealthcheckResult>
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
  /** Where the edge may reach it, in the order in which to try. Empty: loopback of a container, or a port that the engine would have to publish. */
  endpoints: Endpoint[]
}

export interface HealthcheckResult {
  passed: boolean
  /** The last line that it printed. */
  output: string
}

export interface ExistingReplica {
  id: string
  project_id: string
  deployment_id: string
  running: boolean
  /** Of a running one. */
  frozen: boolean
  exit: ReplicaExit | null
  adoptable: boolean
  /** Set by the caller before `adopt`: the time (ms since 1970) of the last line that it has stored; null: it has none. */
  last_line_at: number | null
  /** Set by the caller before `adopt`: the port that it was last found on, when that is not PORT. */
  listen_port: number | null
}

/** What the drivers are made of. The composition root fills it in; nothing here is read from the environment. */
export interface RuntimeOptions {
  /** Names and labels what is ours on this machine. */
  instance_id: string
  /** Absolute. Bundles, caches and toolchains live below it. */
  data_dir: string
  log: Log
  clock?: Clock
  /** Certificates (PEM) that builds trust besides the public ones. */
  ca_file?: string
  /** Registry settings for installs. */
  npmrc_file?: string
  /** Our own Node binary. */
  node_path: string
  /** npm's `bin/npm-cli.js`. */
  npm_cli_path: string
  /** `off`: builds and apps of the process runtime are not confined, whatever the system offers. */
  sandbox?: 'auto' | 'off'
  /** Folders and files that no build and no app may see: the data folder, the home folder, keys. */
  hidden_paths?: string[]
  /** PATH for programs that builds may need besides Node (git, python); a sober default when not given. */
  path?: string
  /** The folder of Windows, for apps. */
  system_root?: string
  docker?: DockerOptions
}

export interface DockerOptions {
  /** DOCKER_HOST. */
  host?: string
  /** Folder of the docker command's settings; default `{home}/.docker`. */
  config_dir?: string
  /** Home folder of the user; where the sockets of the desktop engines are looked for. */
  home?: string
  /** Replaces the search: addresses such as `unix:///var/run/docker.sock`. */
  candidates?: string[]
}

/** A build that failed by the source's fault. `line` is the line of the log that says so, when one is known. */
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

/** A command of the project, or its app, ended badly: what it printed may say why. */
export class CommandFailure extends BuildFailure {}

export class StartFailure extends BuildFailure {}
