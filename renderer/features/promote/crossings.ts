import { useOffered } from '../../api/offered.ts'
import { homeId } from '../../stores/address.ts'
import { useConnection } from '../../stores/connection.ts'

/** Which ways lead out of the instance in front: to others, and to this machine. `others`: there is one to go to already. */
export function useCrossings(): { promote: boolean; pull: boolean; others: boolean } {
  const isHome = useConnection(({ current }) => current.id === homeId)
  const others = useConnection(({ connections, current }) => connections.filter(({ id }) => id !== homeId && id !== current.id).length)
  const mayAdd = useOffered().folders
  return { promote: others > 0 || (isHome && mayAdd), pull: !isHome, others: others > 0 || !isHome }
}
