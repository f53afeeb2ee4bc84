import { Problem } from '../contract/errors.ts'
import type { Sealer } from '../store/sealer.ts'
import type { RemoteRow } from '../store/tables.ts'
import type { Caller } from './context.ts'

/** The tokens of other instances. They are stored only if the master key is in a keychain, because a key file next to the database protects nothing. */
export interface RemoteTokenStore {
  storage: 'keychain' | 'session'
  /** The column value of a token: encrypted, or null if it stays in memory. */
  seal(remote: Pick<RemoteRow, 'id' | 'origin'>, token: string): RemoteRow['sealed_token']
  /** Called after the row is written. A token in memory belongs only to this session or API token. */
  save(id: string, caller: Caller, token: string): void
  has(row: RemoteRow, caller: Caller): boolean
  /** Undefined if there is none, or if the current key cannot decrypt it. */
  read(row: RemoteRow, caller: Caller): string | undefined
  delete(id: string): void
  /** Deletes tokens of sessions and API tokens that no longer exist. */
  deleteInactive(isActive: (credentialId: string) => Promise<boolean>): Promise<void>
}

export function createRemoteTokenStore({ sealer, encryption }: { sealer: Sealer; encryption: 'keychain' | 'file_key' }): RemoteTokenStore {
  const storage = encryption === 'keychain' ? 'keychain' : 'session'
  /** Keyed by instance and credential. */
  const tokensByRemote = new Map<string, Map<string, string>>()
  // The encryption is bound to the origin, so a manipulated row cannot send its token elsewhere.
  const encryptionContextOf = ({ id, origin }: Pick<RemoteRow, 'id' | 'origin'>) => ({
    table: 'remotes',
    column: 'sealed_token',
    row: `${id} ${origin}`,
  })

  return {
    storage,
    seal: (remote, token) => (storage === 'keychain' ? sealer.seal(encryptionContextOf(remote), token) : null),
    save(id, caller, token) {
      if (storage === 'keychain') return
      const byCredential = tokensByRemote.get(id) ?? new Map<string, string>()
      tokensByRemote.set(id, byCredential.set(caller.credential_id, token))
    },
    has: (row, caller) => (storage === 'keychain' ? row.sealed_token !== null : tokensByRemote.get(row.id)?.has(caller.credential_id) === true),
    read(row, caller) {
      if (storage === 'session') return tokensByRemote.get(row.id)?.get(caller.credential_id)
      if (row.sealed_token === null) return undefined
      try {
        return sealer.unseal(encryptionContextOf(row), row.sealed_token)
      } catch (error) {
        if (error instanceof Problem) return undefined
        throw error
      }
    },
    delete: (id) => void tokensByRemote.delete(id),
    async deleteInactive(isActive) {
      for (const id of new Set([...tokensByRemote.values()].flatMap((byCredential) => [...byCredential.keys()]))) {
        if (await isActive(id)) continue
        for (const byCredential of tokensByRemote.values()) byCredential.delete(id)
      }
    },
  }
}
