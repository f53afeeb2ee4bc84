import type { BuildLog } from '../contract/build-log.ts'
import type { FailureCode } from '../contract/deployments.ts'

/** What to fetch. */
export type SourceRequest =
  | {
      kind: 'git'
      /** https, http, ssh, git or file. Without credentials. */
      url: string
      credentials: { username: string; password: string } | null
      branch: string
      /** An exact commit (retry, rollback), else the head of the branch. */
      commit_sha: string | null
      /** `file://` and private addresses are for the instance's owner alone. */
      allow_local: boolean
    }
  | { kind: 'folder'; path: string }
  /** A checked .zip or .tar.gz; its own path is never shown. */
  | { kind: 'archive'; file: string }

/** A folder with the source in it, and what it is. */
export interface FetchedSource {
  /** Absolute; below the `into` that the caller gave; belongs to this deployment alone. */
  folder: string
  branch: string | null
  commit_sha: string | null
  commit_message: string | null
  commit_author: string | null
  /** A working tree with changes that no commit holds. */
  is_dirty: boolean
}

export interface SourceFetchOptions {
  request: SourceRequest
  /** An empty folder to fill; left empty on failure and on abort. */
  into: string
  log: BuildLog
  signal: AbortSignal
}

/** The source could not be had. `message` says what, `hint` says what to do; neither has a secret or a response body. */
export class SourceError extends Error {
  readonly code: FailureCode
  readonly hint: string
  constructor(message: string, hint: string, code: FailureCode = 'clone_failed', cause?: unknown) {
    super(message, { cause })
    this.name = 'SourceFailure'
    this.code = code
    this.hint = hint
  }
}
