/** The source of a deployment, fixed when it is enqueued and stored in its row. */
export type SourceRef =
  | { kind: 'git'; url: string; branch: string; commit_sha: string | null; allow_local: boolean }
  | { kind: 'folder'; path: string }
  /** The copy that an earlier deployment of a folder stored. */
  | { kind: 'snapshot'; deployment_id: string }
  /** The archive of this deployment, or of the deployment that it repeats. */
  | { kind: 'bundle'; deployment_id: string }
