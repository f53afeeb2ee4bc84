import { QueryClient } from '@tanstack/react-query'
import { create } from 'zustand'
import type { Remote } from '../../server/contract/remotes.ts'
import { type ApiClient, createApiClient } from '../api/api-client.ts'
import type { StreamState } from '../api/event-stream.ts'
import { ApiProblem } from '../lib/api-problem.ts'
import { localInstanceId, instanceIdFromPath } from '../lib/instance-path.ts'
import { useSession } from './session.ts'

/** An instance of Homeport that this window can show. */
export interface InstanceProfile {
  id: string
  name: string
  /** Empty for the instance that served this page; all others are reached through that one, which puts their token in. */
  base_url: string
  /** Where it is, for people. */
  origin: string
  /** Hue of the frame, so that nobody mistakes one instance for another. */
  hue: number
  /** Whether a token for it is held. */
  is_signed_in: boolean
}

/** A profile with what belongs to it alone. Each has its own cache: nothing of one instance ever shows in another. */
export interface InstanceConnection extends InstanceProfile {
  client: ApiClient
  cache: QueryClient
}

interface ConnectionStore {
  /** The one that served the page comes first. */
  connections: InstanceConnection[]
  /** Follows from the address. */
  current: InstanceConnection
  /** What the address asks for: not `current` before the others are listed, and when there is none of this id. */
  requested_id: string
  /** Whether it is known which others there are. */
  is_listed: boolean
  /** Ids of those that took no token of ours. */
  rejected_ids: readonly string[]
  /** State of the shared event stream of the current instance. */
  stream: StreamState
  /** Takes in what other instances there are. */
  setRemotes(remotes: readonly Remote[]): void
  /** Nobody is signed in any more: nothing of what was seen stays. */
  reset(): void
  rejectToken(id: string): void
  /** There may be a good token again. */
  clearRejection(id: string): void
  setStream(stream: StreamState): void
}

/** The instance that served this page. */
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

// Before any page hears of it, so that no page of one instance is ever drawn with the data of another.
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

/** What was known of it stays; at another address it is another instance. */
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
        // The event stream keeps what is cached true; time alone makes nothing stale.
        staleTime: Infinity,
        gcTime: 30 * 60_000,
        refetchOnWindowFocus: false,
        retry: (failures, error) =>
          failures < 2 && error instanceof ApiProblem && (error.status === 0 || error.status === 429 || error.status >= 500),
        retryDelay: (failures, error) =>
          error instanceof ApiProblem && error.retry_after_s !== null ? error.retry_after_s * 1000 : 400 * 2 ** failures,
      },
      // A change that meets a dead line says so at once instead of waiting for better days.
      mutations: { networkMode: 'always' },
    },
  })
}
