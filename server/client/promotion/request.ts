import type { Deployment } from '../../contract/deployments.ts'
import type { dumpedServices, PresetName } from '../../contract/service-presets.ts'
import type { Project } from '../../contract/projects.ts'
import type { CallInput } from '../operation-types.ts'
import type { PromotionProject, TransferOptions } from './client.ts'
import type { SettingChanges } from './compare.ts'
import type { PromotionReportLine } from './report.ts'

export type PromotionStepName = 'source' | 'project' | 'services' | 'volumes' | 'database' | 'variables' | 'upload' | 'deploy' | 'data'

/** The user's selection for a promotion. */
export interface PromotionRequest {
  from: PromotionProject
  to: PromotionProject
  /** `archive`: the source of this deployment; `git`: the head of the repository, for an instance that does not provide sources. */
  source:
    | { kind: 'archive'; deployment_id: string; commit?: CallInput<'uploadCommit'>['query'] }
    | { kind: 'git'; repo_url: string; repo_branch: string }
  /** For a project to be created; null for an existing one. */
  new_name: string | null
  settings: SettingChanges
  /** Previous values of those settings at the target. */
  before: SettingChanges
  /** Keys of variables whose values are copied. */
  variables: ReadonlySet<string>
  /** Missing in a promotion that an earlier version of the dashboard has stored. */
  parts?: PromotedParts
}

export type DumpedService = (typeof dumpedServices)[number]

/** A volume that the project has without a configuration file. `service`: null for the one with the project’s address. */
export interface AddedVolume {
  name: string
  path: string
  service: string | null
}

/** Services and data. */
export interface PromotedParts {
  services: PresetName[]
  catches_mail: boolean
  has_database: boolean
  added_volumes: AddedVolume[]
  /** Volumes whose files are copied. */
  volumes: string[]
  copies_database: boolean
  /** Services whose data is copied as a dump. */
  copied_services: DumpedService[]
  /** Data of the target is replaced. Otherwise it is kept. */
  replaces_data: boolean
}

/** Completed work: a retry continues from it, a cancelation undoes it. */
export interface PromotionProgress {
  archive?: Blob
  /** Idempotency key of the project creation. */
  making?: string
  is_made?: boolean
  /** Recorded before each attempt, so that a lost response leaves no unknown state. */
  is_changed?: boolean
  /** Ids of variables and deployments that existed before. */
  known_variables?: string[]
  known?: string[]
  /** The previous current deployment; null without one. */
  serving?: string | null
  is_sent?: boolean
  /** Services, the mail catcher, the database and volumes that this promotion added. */
  added_services?: PresetName[]
  turned_on_mail?: boolean
  made_database?: boolean
  added_volumes?: string[]
  /** Names of added volumes at the target, by their names at the source. */
  volume_names?: Record<string, string>
  /** Volumes whose files were copied or kept, by their name at the source, and the one that is being copied. */
  volumes_done?: string[]
  copying_volume?: string
  /** Volumes whose files were replaced. Null: the volume had none. */
  replaced_volumes?: { name: string; snapshot_id: string | null }[]
  /** The dump of the data that was replaced in the database, and the services whose data was copied. */
  replaced_database?: string
  /** The dumps of the data that was replaced in services that the target had before. */
  replaced_services?: Partial<Record<DumpedService, string>>
  copied_services?: DumpedService[]
  deployment_id?: string
  report?: PromotionReportLine[]
}

export interface PromotionStepContext extends TransferOptions {
  /** Persists `done`, in case the page is closed before the next response. */
  persist(): void
  /** Waits; throws the abort reason of the signal. */
  pause(ms: number): Promise<void>
  /** A random key. */
  createKey(): string
}

export type PromotionStepHandler = (
  request: PromotionRequest,
  done: PromotionProgress,
  context: PromotionStepContext,
) => Promise<{ note: string; deployment?: Deployment; project?: Project }>
