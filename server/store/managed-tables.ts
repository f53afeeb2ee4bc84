import type { Generated } from 'kysely'

/** The rows of managed services, of caught mail and of registries. */

/** A service from a preset. A removed one keeps its password, because its data needs it. */
export interface ManagedServiceRow {
  project_id: string
  /** The name of the preset and of the service. */
  name: string
  sealed_password: Uint8Array
  created_at: string
  /** Equal to `created_at`: the project never had it, only previews whose source lists it. */
  removed_at: string | null
}

/** Credentials of a project for one registry. */
export interface RegistryRow {
  project_id: string
  host: string
  username: string
  sealed_password: Uint8Array
  created_at: string
}

/** The mail catcher's user of a project. */
export interface MailboxRow {
  project_id: string
  is_enabled: 0 | 1
  sealed_password: Uint8Array
  created_at: string
}

export interface MailMessageTable extends Omit<MailMessageRow, 'seq'> {
  seq: Generated<number>
}

/** A caught message, whose text is in a file. */
export interface MailMessageRow {
  seq: number
  id: string
  project_id: string
  sender: string
  /** JSON list of addresses. */
  recipients: string
  subject: string
  bytes: number
  attachments: number
  received_at: string
}

/** A branch's own copy of the data. */
export interface ForkRow {
  project_id: string
  branch: string
  /** JSON of `CopiedData`; null until the first copy is complete. */
  copied: string | null
  /** JSON of `ForkUndo` while a copy is being made. */
  undo: string | null
}

export interface CleanupTable {
  seq: Generated<number>
  /** JSON of `CleanupTask` in deployments/cleanup-task.ts. */
  work: string
  created_at: string
}
