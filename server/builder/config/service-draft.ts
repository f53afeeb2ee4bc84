import type { ProjectConfig, ServiceConfig } from '../../contract/project-config.ts'
import type { SourceFolder } from '../source-folder.ts'
import type { ConfigLog, Position } from './config-failure.ts'

/** The context that the readers of one file share. */
export interface ConfigContext {
  source: SourceFolder
  log: ConfigLog
  /** Volumes that the file declares. */
  volumes: Set<string>
  required_variables: Set<string>
  /** The file is homeport.yaml, in which nothing is ignored. */
  is_strict?: boolean
}

/** A service while its file is read: some fields are decided when all services are known. */
export interface ServiceDraft {
  config: ServiceConfig
  at: Position
  /** `public` in the file; null when it is not set. */
  wants_public: boolean | null
  /** Whether its port answers HTTP even without an address. A port that a compose file only exposes may use any protocol. */
  speaks_http: boolean
  depends_on_at: Map<string, Position>
}

function createService(name: string): ServiceConfig {
  return {
    name,
    kind: 'worker',
    aliases: [],
    source: { kind: 'build', directory: '.', dockerfile: null, target: null, arguments: {}, files: [] },
    entrypoint: null,
    command: null,
    working_directory: null,
    port: null,
    is_public: false,
    schedule: null,
    time_zone: null,
    environment: {},
    environment_templates: {},
    volumes: [],
    depends_on: [],
    restart: 'always',
    health_check: null,
    memory_mb: null,
    cpus: null,
    replicas: null,
  }
}

/** The service of a source without a configuration file. */
export const createWebService = (): ServiceConfig => ({ ...createService('web'), kind: 'web', is_public: true })

export const createDraft = (name: string, at: Position): ServiceDraft => ({
  config: createService(name),
  at,
  wants_public: null,
  speaks_http: true,
  depends_on_at: new Map(),
})

export const noConfig: ProjectConfig = {
  file: null,
  services: [],
  main: null,
  release: null,
  managed: null,
  required_variables: [],
  settings: {},
  lines: {},
  explanation: [],
}
