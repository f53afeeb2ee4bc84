import type { FailureCode, RuntimeName } from '../contract/deployments.ts'
import type { BuildPlan } from '../contract/build-plan.ts'
import type { BuildLog } from '../contract/build-log.ts'

/**
 * What builds and runs apps. Two drivers stand behind it, `docker` and `process`; both pass the suite in
 * `test/runtime`. A driver knows nothing of projects' rows, routes or the API: it is told what to do, and
 * says what came of it. Everything it makes is labelled with ids, so that after a crash `list` tells what is there.
 */
export interface Runtime {
  readonly name: RuntimeName

  /** Whether it can work now. Never throws; quick (under 2 s). */
  probe(): Promise<{ available: boolean; version: string | null; reason: string }>

  /**
   * Makes a runnable artifact of a source folder. Throws `BuildFailure` when the source is at fault, and an abort error
   * within 1 s once `signal` is aborted, with nothing left behind.
   */
  build(request: BuildRequest): Promise<Artifact>

  /**
   * Starts one instance of an artifact and resolves once the process or container runs (not: once it answers).
   * Throws `StartFailure`. Its output goes to `onLine`, its end to `onExit`, exactly once.
   */
  start(request: StartRequest): Promise<Instance>

  /**
   * What of ours runs or is left over, for recovery after a crash. `docker` finds running containers and can `adopt`
   * them; `process` finds orphans of a dead platform, which it can only stop.
   */
  list(): Promise<FoundInstance[]>

  /** Takes over an instance that survived the platform: output since `after`, and its end, are reported as for `start`. */
  adopt(found: FoundInstance, observer: InstanceObserver): Promise<Instance | undefined>

  /** Stops and removes an instance by id (SIGTERM, then SIGKILL after `grace_ms`); no error if it is gone already. */
  stop(instanceId: string, grace_ms: number): Promise<void>

  /** Frees an artifact (image, bundle) and what else the deployment left; no error if it is gone already. */
  discard(deploymentId: string, artifact: Artifact | null): Promise<void>

  /** Ends what the driver itself opened (sockets, readers). Running instances stay as they are. */
  close(): Promise<void>
}

export interface BuildRequest {
  project_id: string
  deployment_id: string
  /** The source: a folder that belongs to this deployment alone and may be changed. */
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
  /** `process`: a folder with everything in it and the command that starts it. */
  | { kind: 'bundle'; directory: string; command: string[]; node_version: string; bytes: number }

export interface StartRequest extends InstanceObserver {
  project_id: string
  deployment_id: string
  artifact: Extract<Artifact, { kind: 'image' | 'bundle' }>
  /** The complete environment of the app but for PORT and HOST, which the driver sets. */
  variables: Record<string, string>
  memory_mb: number
  signal: AbortSignal
}

export interface InstanceObserver {
  /** A line of output without its line end. Called in order; never throws. */
  onLine(stream: 'stdout' | 'stderr', line: string): void
  /** The end, after the last line was delivered. */
  onExit(exit: Exit): void
}

export interface Exit {
  code: number | null
  signal: string | null
  out_of_memory: boolean
}

export interface Instance {
  /** Container id, or the driver's own id of a process. */
  id: string
  deployment_id: string
  /** Where the edge and the health check reach it. */
  host: string
  port: number
  /** Ports that it listens on by now, to explain a failed health check; empty when not known. */
  listeningPorts(): Promise<{ port: number; loopback_only: boolean }[]>
}

export interface FoundInstance {
  id: string
  project_id: string
  deployment_id: string
  running: boolean
  exit: Exit | null
  adoptable: boolean
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

export class StartFailure extends BuildFailure {}
