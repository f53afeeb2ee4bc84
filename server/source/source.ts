import type { StepLog } from '../contract/build-log.ts'
import type { Source } from '../contract/deployment-source.ts'
import type { FailureCode } from '../contract/deployments.ts'

export type GitCredentials = { username: string; password: string } | null

/** A folder with the fetched source, and the description of its commit; a stored copy or an archive has none. */
export interface FetchedSource {
  /** Absolute path below the caller's `into`; belongs to this deployment alone. */
  folder: string
  branch: string | null
  commit_sha: string | null
  commit_message: string | null
  commit_author: string | null
  /** A working tree with uncommitted changes. */
  is_dirty: boolean
}

export interface SourceFetchOptions {
  source: Source
  /** For a git source. */
  credentials?: GitCredentials
  /** The stored archive, or the stored copy of a folder; never shown. */
  stored?: string
  /** An empty folder to fill; left empty on failure and on abort. */
  into: string
  log: StepLog
  signal: AbortSignal
}

/** The source could not be fetched. `message` says why, `hint` says how to fix it; neither contains a secret or a response body. */
export class SourceError extends Error {
  readonly code: FailureCode
  readonly hint: string
  constructor(message: string, hint: string, code: FailureCode = 'clone_failed', cause?: unknown) {
    super(message, { cause })
    this.name = 'SourceError'
    this.code = code
    this.hint = hint
  }
}
