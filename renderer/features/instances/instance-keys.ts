import { useConnection } from '../../stores/connection.ts'
import { useShortcuts } from '../keyboard/shortcuts.ts'
import { switchTo } from './switch.ts'

/** The keys that bring another instance to the front, by its place in the list. They hold where one asks for a token, too. */
export function useInstanceKeys(): void {
  useShortcuts({
    instance(_, keys) {
      const { connections } = useConnection.getState()
      const chosen = connections[Number(keys.at(-1)) - 1]
      if (!chosen) return false
      switchTo(chosen.id)
    },
  })
}
