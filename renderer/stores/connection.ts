import { navigate } from 'wouter/use-browser-location'
import { instanceBasePath, localInstanceId, instanceIdFromPath } from '../lib/instance-path.ts'
import { QueryClient } from '@tanstack/react-query'
import { create } from 'zustand'
import type { Remote } from '../../server/contract/remotes.ts'
import { type ApiClient, createApiClient } from '../api/api-client.ts'
import type { StreamState } from '../api/event-stream.ts'
import { ApiError } from '../../server/client/api-error.ts'
import { useSession } from './session.ts'

/** A Homeport instance that this window can show. */
export interface InstanceProfile {
  id: string
  name: string
  /** Empty for the instance that served this page; others are reached through its proxy, which adds their token. */
  base_url: string
  /** Display origin. */
  origin: string
  /** Hue of the frame, to tell instances apart. */
  hue: number
  /** Whether a token is saved. */
  is_signed_in: boolean
}

/** A connection with its own client and query cache, so that data of one instance never appears in another. */
export interface InstanceConnection extends InstanceProfile {
  client: ApiClient
  cache: QueryClient
}

interface ConnectionStore {
  /** The instance that served the page comes first. */
  connections: InstanceConnection[]
  /** Derived from the URL. */
  current: InstanceConnection
  /** The instance named in the URL. It differs from `current` while the others are loading, and if it does not exist. */
  requested_id: string
  /** Whether the other instances are loaded. */
  is_listed: boolean
  /** Ids of instances that rejected the saved token. */
  rejected_ids: readonly string[]
  /** State of the current instance's event stream. */
  stream: StreamState
  /** Applies the list of other instances. */
  setRemotes(remotes: readonly Remote[]): void
  /** Clears all data after a sign-out. */
  reset(): void
  rejectToken(id: string): void
  /** A new token may work, so the rejection is cleared. */
  clearRejection(id: string): void
  setStream(stream: StreamState): void
}

/** The instance that served the page. */
export const localConnection = createConnection({
  id: localInstanceId,
  name: 'This machine',
  base_url: '',
  origin: globalThis.location?.origin ?? '',
  hue: 255,
  is_signed_in: true,
})

export const useConnection = create<ConnectionStore>((set) => ({
  connections: [localConnection],
  current: localConnection,
  requested_id: requestedIdFromUrl(),
  is_listed: false,
  rejected_ids: [],
  stream: { name: 'connecting' },
  setRemotes: (remotes) =>
    set((state) => {
      const connections = [localConnection, ...remotes.map((remote) => mergeRemote(remote, state.connections))]
      const removed = state.connections.filter(({ id }) => !connections.some((one) => one.id === id))
      for (const { cache } of removed) cache.clear()
      return { connections, is_listed: true, ...selectCurrent(connections, state) }
    }),
  reset: () =>
    set((state) => {
      for (const { cache } of state.connections) cache.clear()
      return { connections: [localConnection], rejected_ids: [], is_listed: false, ...selectCurrent([localConnection], state) }
    }),
  rejectToken: (id) => set(({ rejected_ids }) => (rejected_ids.includes(id) ? {} : { rejected_ids: [...rejected_ids, id] })),
  clearRejection: (id) => set(({ rejected_ids }) => ({ rejected_ids: rejected_ids.filter((one) => one !== id) })),
  setStream: (stream) => set({ stream }),
}))

// Updated before any page renders, so that no page shows data of another instance.
for (const event of ['popstate', 'pushState', 'replaceState'])
  globalThis.addEventListener?.(event, () => {
    const state = useConnection.getState()
    if (state.requested_id !== requestedIdFromUrl()) useConnection.setState(selectCurrent(state.connections, state))
  })

function requestedIdFromUrl(): string {
  return instanceIdFromPath(globalThis.location?.pathname ?? '')
}

function selectCurrent(
  connections: InstanceConnection[],
  previous: ConnectionStore,
): Pick<ConnectionStore, 'requested_id' | 'current'> & Partial<ConnectionStore> {
  const requested_id = requestedIdFromUrl()
  const current = connections.find(({ id }) => id === requested_id) ?? previous.current
  return { requested_id, current, ...(current.id === previous.current.id ? {} : { stream: { name: 'connecting' } as const }) }
}

/** Keeps cached data; an instance at another URL counts as a different one. */
function mergeRemote({ id, name, origin, hue, is_signed_in }: Remote, known: InstanceConnection[]): InstanceConnection {
  const profile = { id, name, origin, hue, is_signed_in, base_url: `/remote/${encodeURIComponent(id)}` }
  const previous = known.find((one) => one.id === id && one.origin === origin)
  return previous ? { ...previous, ...profile } : createConnection(profile)
}

function createConnection(profile: InstanceProfile): InstanceConnection {
  const { id, base_url } = profile
  const client = createApiClient({
    base_url,
    onSignedOut: () => useSession.getState().setSignedOut(true),
    onTokenRefused: () => id !== localInstanceId && useConnection.getState().rejectToken(id),
  })
  return { ...profile, client, cache: createQueryClient() }
}

function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // The event stream keeps the cache up to date, so data never becomes stale by time.
        staleTime: Infinity,
        gcTime: 30 * 60_000,
        refetchOnWindowFocus: false,
        retry: (failures, error) => failures < 2 && error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500),
        retryDelay: (failures, error) =>
          error instanceof ApiError && error.retry_after_s !== null ? error.retry_after_s * 1000 : 400 * 2 ** failures,
      },
      // A mutation without a connection fails immediately instead of waiting for the network.
      mutations: { networkMode: 'always' },
    },
  })
}

/** Switches to another instance and opens its projects. */
export function switchInstance(id: string): void {
  if (useConnection.getState().requested_id !== id) navigate(`${instanceBasePath(id)}/`)
}
