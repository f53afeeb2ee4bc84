/**
 * Where the code of a deployment comes from: the same type in the request, in the deployment's row and for the fetch. `of` is the deployment whose
 * stored copy is used, when a deployment is repeated (retry, rollback, changed variables). A commit is exact without a copy.
 */
export type Source =
  /** Without credentials. `commit_sha`: null for the head of the branch. `allow_local`: file:// and private addresses, only for the instance's owner. */
  | { kind: 'git'; url: string; branch: string; commit_sha: string | null; allow_local: boolean }
  /** A folder of this machine; a copy is stored when it is fetched. */
  | { kind: 'folder'; path: string; of?: string }
  /** An uploaded .zip or .tar.gz, which is checked and stored before the row is inserted. */
  | { kind: 'archive'; of?: string }

export type GitSource = Extract<Source, { kind: 'git' }>
