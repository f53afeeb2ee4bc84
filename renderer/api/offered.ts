import { homeId } from '../stores/address.ts'
import { useConnection } from '../stores/connection.ts'
import { useInstance } from './queries.ts'

/**
 * What the instance in front offers. The one place that knows: a hosted account has the customer's operations (/v1) and nothing of
 * /instance; another machine has no folders of ours.
 */
export interface Offered {
  /** Whether this is known; until then nothing more is offered than everybody has. */
  is_known: boolean
  /** Everything below /instance: its pages, the team, dumps, the watched repository, sparklines, the looks into the cache. */
  instance: boolean
  /** Deploys a folder that lies on the machine in front of the person. */
  folders: boolean
  /** Has the machine in front of the person under it. */
  is_here: boolean
}

export function useOffered(): Offered {
  const isHome = useConnection(({ current }) => current.id === homeId)
  return offeredBy(isHome, useInstance().data)
}

/** `session`: undefined as long as it has not told, null where it does not tell. */
export function offeredBy(
  isHome: boolean,
  session: { instance: { is_local: boolean }; user: { is_instance_owner: boolean } } | null | undefined,
): Offered {
  return {
    is_known: isHome || session !== undefined,
    instance: isHome || (session !== undefined && session !== null),
    folders: isHome && session?.user.is_instance_owner === true,
    is_here: isHome && session?.instance.is_local === true,
  }
}
