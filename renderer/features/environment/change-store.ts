import { create } from 'zustand'
import { useConnection } from '../../stores/connection.ts'
import { type ChangeSet, noChanges } from './change-set.ts'

/** Keys that were deleted while a deployment was current, which still has them. */
export interface UndeployedDeletions {
  serving_id: string | null
  keys: readonly string[]
}

interface ChangeStore {
  changes: Record<string, ChangeSet>
  deletions: Record<string, UndeployedDeletions>
}

/** Unsaved changes, by instance and project. They are in memory only, because they contain values. */
const useChangeStore = create<ChangeStore>(() => ({ changes: {}, deletions: {} }))

export function useChangeSet(slug: string) {
  const key = `${useConnection(({ current }) => current.id)}/${slug}`
  const changes = useChangeStore((state) => state.changes[key]) ?? noChanges
  const deletions = useChangeStore((state) => state.deletions[key])
  return {
    changes,
    deletions,
    stage: (change: (before: ChangeSet) => ChangeSet) =>
      useChangeStore.setState((state) => ({ changes: { ...state.changes, [key]: change(state.changes[key] ?? noChanges) } })),
    rememberDeletions: (serving_id: string | null, keys: readonly string[]) =>
      useChangeStore.setState((state) => ({ deletions: { ...state.deletions, [key]: { serving_id, keys } } })),
  }
}
