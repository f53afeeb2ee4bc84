import { useConnection } from '../../stores/connection.ts'
import { useShortcuts } from '../keyboard/shortcuts.ts'
import { switchInstance } from './switch-instance.ts'

/** The keys that bring another instance to the front, by its place in the list. They hold where one asks for a token, too. */
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
