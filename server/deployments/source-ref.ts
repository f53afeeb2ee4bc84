/** What a deployment fetches, fixed when it is enqueued and kept in its row. */
export type SourceRef =
  | { kind: 'git'; url: string; branch: string; commit_sha: string | null; allow_local: boolean }
  | { kind: 'folder'; path: string }
  /** The copy that an earlier deployment of a folder kept. */
  | { kind: 'snapshot'; deployment_id: string }
  /** The archive that a deployment brought: this one, or the one that it repeats. */
  | { kind: 'bundle'; deployment_id: string }
