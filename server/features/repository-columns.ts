import type { Sealer } from '../store/sealer.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { Caller } from './context.ts'

export type RepositoryColumns = Pick<ProjectRow, 'repo_url' | 'sealed_repo_credentials' | 'repo_is_trusted'>

export const emptyRepositoryColumns: RepositoryColumns = { repo_url: null, sealed_repo_credentials: null, repo_is_trusted: 0 }

/** A repository URL without credentials, the encrypted credentials, and whether private addresses are allowed. */
export function toRepositoryColumns(sealer: Sealer, caller: Caller, projectId: string, url: string): RepositoryColumns {
  const repo_is_trusted = caller.is_instance_owner ? 1 : 0
  const address = new URL(url)
  const credentials = { username: decodeURIComponent(address.username), password: decodeURIComponent(address.password) }
  // The user in an ssh URL is not secret and is part of the URL.
  if (credentials.password === '' && (credentials.username === '' || address.protocol === 'ssh:'))
    return { repo_url: url, sealed_repo_credentials: null, repo_is_trusted }
  if (address.protocol !== 'ssh:') address.username = ''
  address.password = ''
  const sealed = sealer.seal({ table: 'projects', column: 'sealed_repo_credentials', row: projectId }, JSON.stringify(credentials))
  return { repo_url: address.href, sealed_repo_credentials: sealed, repo_is_trusted }
}
