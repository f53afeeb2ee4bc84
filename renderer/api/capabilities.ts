import { localInstanceId } from '../lib/instance-path.ts'
import { useConnection } from '../stores/connection.ts'
import { useInstanceSession } from './queries.ts'

/**
 * What the instance in front offers. The one place that knows: a hosted account has the customer's operations (/v1) and nothing of
 * /instance; another machine has no folders of ours.
 */
export interface Capabilities {
  /** Whether this is known; until then nothing more is offered than everybody has. */
  is_known: boolean
  /** Everything below /instance: its pages, the team, dumps, the watched repository, sparklines, the looks into the cache. */
  has_instance_api: boolean
  /** Deploys a folder that lies on the machine in front of the person. */
  can_deploy_folders: boolean
  /** Has the machine in front of the person under it. */
  is_local: boolean
}

export function useCapabilities(): Capabilities {
  const isHome = useConnection(({ current }) => current.id === localInstanceId)
  return deriveCapabilities(isHome, useInstanceSession().data)
}

/** `session`: undefined as long as it has not told, null where it does not tell. */
export function deriveCapabilities(
  isHome: boolean,
  session: { instance: { is_local: boolean }; user: { is_instance_owner: boolean } } | null | undefined,
): Capabilities {
  return {
    is_known: isHome || session !== undefined,
    has_instance_api: isHome || (session !== undefined && session !== null),
    can_deploy_folders: isHome && session?.user.is_instance_owner === true,
    is_local: isHome && session?.instance.is_local === true,
  }
}
