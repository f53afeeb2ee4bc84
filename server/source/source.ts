import type { BuildLog } from '../contract/build-log.ts'
import type { FailureCode } from '../contract/deployments.ts'

/** The source to fetch. */
export type SourceRequest =
  | {
      kind: 'git'
      /** https, http, ssh, git or file. Without credentials. */
      url: string
      credentials: { username: string; password: string } | null
      branch: string
      /** An exact commit (retry, rollback); null: the head of the branch. */
      commit_sha: string | null
      /** Whether `file://` and private addresses are allowed; only for the instance's owner. */
      allow_local: boolean
    }
  | { kind: 'folder'; path: string }
  /** A checked .zip or .tar.gz; its path is never shown. */
  | { kind: 'archive'; file: string }

/** A folder with the fetched source, and its description. */
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
  request: SourceRequest
  /** An empty folder to fill; left empty on failure and on abort. */
  into: string
  log: BuildLog
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
