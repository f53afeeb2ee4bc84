import { QueryClient } from '@tanstack/react-query'
import { create } from 'zustand'
import type { Remote } from '../../server/contract/remotes.ts'
import { type Client, createClient } from '../api/client.ts'
import type { StreamState } from '../api/follow.ts'
import { ApiProblem } from '../api/problem.ts'
import { homeId, instanceIn } from './address.ts'
import { useSession } from './session.ts'

/** An instance of Homeport that this window can show. */
export interface Profile {
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
export interface Connection extends Profile {
  client: Client
  cache: QueryClient
}

interface ConnectionStore {
  /** The one that served the page comes first. */
  connections: Connection[]
  /** Follows from the address. */
  current: Connection
  /** What the address asks for: not `current` before the others are listed, and when there is none of this id. */
  wanted: string
  /** Whether it is known which others there are. */
  is_listed: boolean
  /** Ids of those that took no token of ours. */
  refused: readonly string[]
  /** State of the shared event stream of the current instance. */
  stream: StreamState
  /** Takes in what other instances there are. */
  list(remotes: readonly Remote[]): void
  /** Nobody is signed in any more: nothing of what was seen stays. */
  forget(): void
  refuse(id: string): void
  /** There may be a good token again. */
  accept(id: string): void
  setStream(stream: StreamState): void
}

/** The instance that served this page. */
export const home = connect({
  id: homeId,
  name: 'This machine',
  base_url: '',
  origin: globalThis.location?.origin ?? '',
  hue: 255,
  is_signed_in: true,
})

export const useConnection = create<ConnectionStore>((set) => ({
  connections: [home],
  current: home,
  wanted: wantedNow(),
  is_listed: false,
  refused: [],
  stream: { name: 'connecting' },
  list: (remotes) =>
    set((state) => {
      const connections = [home, ...remotes.map((remote) => taken(remote, state.connections))]
      const gone = state.connections.filter(({ id }) => !connections.some((one) => one.id === id))
      for (const { cache } of gone) cache.clear()
      return { connections, is_listed: true, ...inFront(connections, state) }
    }),
  forget: () =>
    set((state) => {
      for (const { cache } of state.connections) cache.clear()
      return { connections: [home], refused: [], is_listed: false, ...inFront([home], state) }
    }),
  refuse: (id) => set(({ refused }) => (refused.includes(id) ? {} : { refused: [...refused, id] })),
  accept: (id) => set(({ refused }) => ({ refused: refused.filter((one) => one !== id) })),
  setStream: (stream) => set({ stream }),
}))

// Before any page hears of it, so that no page of one instance is ever drawn with the data of another.
for (const event of ['popstate', 'pushState', 'replaceState'])
  globalThis.addEventListener?.(event, () => {
    const state = useConnection.getState()
    if (state.wanted !== wantedNow()) useConnection.setState(inFront(state.connections, state))
  })

function wantedNow(): string {
  return instanceIn(globalThis.location?.pathname ?? '')
}

function inFront(connections: Connection[], before: ConnectionStore): Pick<ConnectionStore, 'wanted' | 'current'> & Partial<ConnectionStore> {
  const wanted = wantedNow()
  const current = connections.find(({ id }) => id === wanted) ?? before.current
  return { wanted, current, ...(current.id === before.current.id ? {} : { stream: { name: 'connecting' } as const }) }
}

/** What was known of it stays; at another address it is another instance. */
function taken({ id, name, origin, hue, is_signed_in }: Remote, known: Connection[]): Connection {
  const profile = { id, name, origin, hue, is_signed_in, base_url: `/remote/${encodeURIComponent(id)}` }
  const before = known.find((one) => one.id === id && one.origin === origin)
  return before ? { ...before, ...profile } : connect(profile)
}

function connect(profile: Profile): Connection {
  const { id, base_url } = profile
  const client = createClient({
    base_url,
    onSignedOut: () => useSession.getState().setSignedOut(true),
    onTokenRefused: () => id !== homeId && useConnection.getState().refuse(id),
  })
  return { ...profile, client, cache: createCache() }
}

function createCache(): QueryClient {
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
