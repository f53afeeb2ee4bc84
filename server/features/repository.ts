import type { Sealer } from '../store/sealed.ts'

/** An address without its credentials, and those sealed for the row that will hold them. */
export function splitRepository(sealer: Sealer, projectId: string, url: string): { repo_url: string; sealed_repo_credentials: Uint8Array | null } {
  const address = new URL(url)
  const credentials = { username: decodeURIComponent(address.username), password: decodeURIComponent(address.password) }
  // The user of an ssh address is no secret and is part of the address.
  if (credentials.password === '' && (credentials.username === '' || address.protocol === 'ssh:'))
    return { repo_url: url, sealed_repo_credentials: null }
  if (address.protocol !== 'ssh:') address.username = ''
  address.password = ''
  const sealed = sealer.seal({ table: 'projects', column: 'sealed_repo_credentials', row: projectId }, JSON.stringify(credentials))
  return { repo_url: address.href, sealed_repo_credentials: sealed }
}
