import { useCapabilities } from '../../api/capabilities.ts'
import { localInstanceId } from '../../lib/instance-path.ts'
import { useConnection } from '../../stores/connection.ts'

/** Directions for a promotion from the current instance: to others, and to this machine. `others`: another instance exists. */
export function usePromotionTargets(): { promote: boolean; pull: boolean; hasOthers: boolean } {
  const isHome = useConnection(({ current }) => current.id === localInstanceId)
  const others = useConnection(({ connections, current }) => connections.filter(({ id }) => id !== localInstanceId && id !== current.id).length)
  const canAddInstance = useCapabilities().can_deploy_folders
  return { promote: others > 0 || (isHome && canAddInstance), pull: !isHome, hasOthers: others > 0 || !isHome }
}
