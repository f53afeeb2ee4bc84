import { useInstanceSession } from './instance.ts'
import type { Bridge } from '../../preload/bridge.ts'
import { localInstanceId } from '../lib/instance-path.ts'
import { useConnection } from '../stores/connection.ts'

/**
 * Features of the current instance. This is the only place that decides: a hosted account supports only the customer operations (/v1) and nothing
 * under /instance, and a remote machine has no local folders.
 */
export interface Capabilities {
  /** Whether the capabilities are known. Until then only the features that every instance has are offered. */
  is_known: boolean
  /** Everything under /instance: instance pages, team, dumps, repository polling, sparklines, cache inspection. */
  has_instance_api: boolean
  /** Shells in the dashboard; the WebSocket of a shell goes to the instance that served this page. */
  has_terminal: boolean
  /** Deploys a folder of the user's own machine. */
  can_deploy_folders: boolean
  /** Whether the instance runs on the user's own machine. */
  is_local: boolean
}

export function useCapabilities(): Capabilities {
  const isHome = useConnection(({ current }) => current.id === localInstanceId)
  return deriveCapabilities(isHome, useInstanceSession().data)
}

/** `session`: undefined while loading, null if the instance does not report a session. */
export function deriveCapabilities(
  isHome: boolean,
  session: { instance: { is_local: boolean }; user: { is_instance_owner: boolean } } | null | undefined,
): Capabilities {
  return {
    is_known: isHome || session !== undefined,
    has_instance_api: isHome || (session !== undefined && session !== null),
    has_terminal: isHome,
    can_deploy_folders: isHome && session?.user.is_instance_owner === true,
    is_local: isHome && session?.instance.is_local === true,
  }
}

/** Opens the folder dialog of the desktop app; null in a browser, or if the instance is not this machine. */
export function useFolderPicker(): Bridge['chooseFolder'] | null {
  const { is_local } = useCapabilities()
  return is_local && window.homeport ? window.homeport.chooseFolder : null
}

/** Directions for a promotion from the current instance: to others, and to this machine. `others`: another instance exists. */
export function usePromotionTargets(): { promote: boolean; pull: boolean; hasOthers: boolean } {
  const isHome = useConnection(({ current }) => current.id === localInstanceId)
  const others = useConnection(({ connections, current }) => connections.filter(({ id }) => id !== localInstanceId && id !== current.id).length)
  const canAddInstance = useCapabilities().can_deploy_folders
  return { promote: others > 0 || (isHome && canAddInstance), pull: !isHome, hasOthers: others > 0 || !isHome }
}
