import { Problem } from '../contract/errors.ts'
import type { Sealer } from '../store/sealed.ts'
import type { RemoteRow } from '../store/tables.ts'
import type { Caller } from './context.ts'

/** The tokens of other instances. Where one is kept depends on the master key: what lies in a file beside the database protects nothing. */
export interface RemoteTokens {
  keeps: 'keychain' | 'session'
  /** The column of a row that is to bear this token: sealed, or null where it stays in memory. */
  seal(of: Pick<RemoteRow, 'id' | 'origin'>, token: string): RemoteRow['sealed_token']
  /** After the row is written: in memory it is this session's, or this caller's token's, alone. */
  hold(id: string, caller: Caller, token: string): void
  isHeld(row: RemoteRow, caller: Caller): boolean
  /** Undefined: there is none, or it cannot be opened by the key of today. */
  read(row: RemoteRow, caller: Caller): string | undefined
  forget(id: string): void
  /** Forgets what was held for those who are gone. */
  sweep(isAlive: (credentialId: string) => Promise<boolean>): Promise<void>
}

export function createRemoteTokens({ sealer, encryption }: { sealer: Sealer; encryption: 'keychain' | 'file_key' }): RemoteTokens {
  const keeps = encryption === 'keychain' ? 'keychain' : 'session'
  /** By instance and by who gave it. */
  const held = new Map<string, Map<string, string>>()
  // Bound to the origin too: a row that was changed from outside sends its token nowhere else.
  const placeOf = ({ id, origin }: Pick<RemoteRow, 'id' | 'origin'>) => ({ table: 'remotes', column: 'sealed_token', row: `${id} ${origin}` })

  return {
    keeps,
    seal: (of, token) => (keeps === 'keychain' ? sealer.seal(placeOf(of), token) : null),
    hold(id, caller, token) {
      if (keeps === 'keychain') return
      const of = held.get(id) ?? new Map<string, string>()
      held.set(id, of.set(caller.credential_id, token))
    },
    isHeld: (row, caller) => (keeps === 'keychain' ? row.sealed_token !== null : held.get(row.id)?.has(caller.credential_id) === true),
    read(row, caller) {
      if (keeps === 'session') return held.get(row.id)?.get(caller.credential_id)
      if (row.sealed_token === null) return undefined
      try {
        return sealer.unseal(placeOf(row), row.sealed_token)
      } catch (error) {
        if (error instanceof Problem) return undefined
        throw error
      }
    },
    forget: (id) => void held.delete(id),
    async sweep(isAlive) {
      for (const id of new Set([...held.values()].flatMap((of) => [...of.keys()]))) {
        if (await isAlive(id)) continue
        for (const of of held.values()) of.delete(id)
      }
    },
  }
}
