import type { Autoscaling } from './autoscaling.ts'
import type { TemplatePart } from './environment-template.ts'
import type { ManagedName } from './managed-names.ts'

/**
 * The services of a source, as pure data. `builder/config/` reads them from the file of a repository (homeport.yaml, compose.yaml,
 * Procfile ...); `deployments/` builds and starts what it lists. The type is in the contract because these must not import each other.
 */
export interface ProjectConfig {
  /** The file, relative to the source; null when the source has none and consists of one web service that the builder detects. */
  file: string | null
  /** In the order of the file. Names are unique. */
  services: ServiceConfig[]
  /** The name of the service with the project's address; null when none answers requests. */
  main: string | null
  /** Runs in the new version after the build and before traffic; null for none. */
  release: { service: string; command: string[] } | null
  /** Managed services that the file lists; null for a file that cannot list any, and without a file. */
  managed: ManagedName[] | null
  /** Names of required variables, without which the project is not started. */
  required_variables: string[]
  /** Project settings that the file sets, by the API's names. */
  settings: Record<string, SettingValue>
  /** The line of each key of the file, by its path: `services.web.port`. Empty for a file whose lines are unknown. */
  lines: Record<string, number>
  /** Sentences for the build log: what was read, where, and what has no effect here. */
  explanation: string[]
}

/** The value of a project setting in a file. */
export type SettingValue = string | number | boolean | string[] | number[] | Autoscaling

/**
 * - `web` answers HTTP requests and has an address if it is public.
 * - `worker` runs without an address.
 * - `cron` runs its command on a schedule.
 * - `image` is a prebuilt image (a database, a queue); it belongs to the environment and keeps running while new versions of the others are deployed.
 */
export type ServiceKind = 'web' | 'worker' | 'cron' | 'image'

export interface ServiceConfig {
  /** Lower-case letters, digits, `-` and `_`, at most 40 characters: also its host name inside the environment. */
  name: string
  kind: ServiceKind
  /** Other host names inside the environment. */
  aliases: string[]
  /**
   * Folder of the build and its Dockerfile, both relative to the source, or the name of a prebuilt image. Services with the same build share its result.
   * `files` of the source (`source` is relative to it, `path` absolute) are copied into the image, as compose mounts them
   * (`./nginx.conf:/etc/nginx/nginx.conf:ro`); links that leave the source must not be followed.
   */
  source:
    | {
        kind: 'build'
        directory: string
        dockerfile: string | null
        target: string | null
        arguments: Record<string, string>
        files: { source: string; path: string }[]
      }
    | { kind: 'image'; image: string; files: { source: string; path: string }[] }
  /** Replaces the image's ENTRYPOINT; null keeps it. */
  entrypoint: string[] | null
  /** The command as arguments; null: the start command of the build or of the image. */
  command: string[] | null
  /** The port on which it listens; null: PORT for a web service, none for others. */
  port: number | null
  /** Whether it has a separate address: the project's for the main service, `NAME--SLUG.localhost` for others. */
  is_public: boolean
  /** Additional ports for HTTP, each with its own address, `NAME-PORT--SLUG.localhost`. Absent when there are none. */
  ports?: number[]
  /** A cron expression of five or six fields, in UTC unless `time_zone` is set. Only for `cron`. */
  schedule: string | null
  time_zone: string | null
  /** Replaces the image's folder in which the command runs; null keeps it. */
  working_directory: string | null
  /** Override variables of the project. */
  environment: Record<string, string>
  /** Like `environment`, for values with project variables: `fillEnvironment` fills them in when the service starts. */
  environment_templates: Record<string, TemplatePart[]>
  volumes: ServiceVolume[]
  /** Services that this one waits for before it starts. `healthy` means `started` for a service without a health check. */
  depends_on: { service: string; condition: 'started' | 'healthy' | 'completed' }[]
  /** `on_failure`: exit code 0 completes the service; otherwise it is started again. */
  restart: 'always' | 'on_failure'
  health_check: ServiceHealthCheck | null
  memory_mb: number | null
  cpus: number | null
  /** The number of replicas; null when the file does not say. Only for `web` and `worker`. */
  replicas: number | null
  /** Only of the main service, and absent or null when the file does not say. */
  autoscaling?: Autoscaling | null
}

export interface ServiceVolume {
  /** The volume of the environment; services that name the same one share it. */
  name: string
  /** Absolute path in the container; relative to the app's folder on a runtime without containers. */
  path: string
  is_read_only: boolean
  /** `path` is one file: a link to a file of the same name in the volume, so that the other files of its folder stay those of the version. */
  is_file?: boolean
}

/**
 * `path`: an HTTP request that must succeed within `timeout_s`, else within the project's time, repeated every `interval_s`. `command`: a command in
 * the container that must exit with 0 within `start_period_s` and `retries` times `interval_s`.
 */
export type ServiceHealthCheck =
  | { kind: 'path'; path: string; timeout_s?: number; interval_s?: number }
  | { kind: 'command'; command: string[]; interval_s: number; timeout_s: number; retries: number; start_period_s: number }
