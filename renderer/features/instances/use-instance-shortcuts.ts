import { useConnection, switchInstance } from '../../stores/connection.ts'
import { useShortcuts } from '../../stores/shortcuts.ts'

/** Shortcuts that switch instances by position. They also work on the token prompt. */
export function useInstanceShortcuts(): void {
  useShortcuts({
    instance(_, keys) {
      const { connections } = useConnection.getState()
      const chosen = connections[Number(keys.at(-1)) - 1]
      if (!chosen) return false
      switchInstance(chosen.id)
    },
  })
}
