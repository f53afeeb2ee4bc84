import { QueryClient } from '@tanstack/react-query'
import { create } from 'zustand'
import { type Client, createClient } from '../api/client.ts'
import { ApiProblem } from '../api/problem.ts'
import type { StreamState } from '../api/follow.ts'
import { useSession } from './session.ts'

/** An instance of Homeport that this window can show. */
export interface Profile {
  id: string
  name: string
  /** Empty for the instance that served this page. */
  base_url: string
  /** Held in memory only; null: the session cookie. */
  token: string | null
  /** Hue of the frame, so that nobody mistakes one instance for another. */
  hue: number
}

/** A profile with what belongs to it alone. Each has its own cache: nothing of one instance ever shows in another. */
export interface Connection extends Profile {
  client: Client
  cache: QueryClient
}

interface ConnectionStore {
  connections: Connection[]
  current: Connection
  /** State of the shared event stream of the current instance. */
  stream: StreamState
  add(profile: Profile): void
  switchTo(id: string): void
  setStream(stream: StreamState): void
}

const local = connect({ id: 'local', name: 'This machine', base_url: '', token: null, hue: 255 })

export const useConnection = create<ConnectionStore>((set, get) => ({
  connections: [local],
  current: local,
  stream: { name: 'connecting' },
  add: (profile) => set((state) => ({ connections: [...state.connections.filter(({ id }) => id !== profile.id), connect(profile)] })),
  switchTo(id) {
    const current = get().connections.find((connection) => connection.id === id)
    if (!current) return
    useSession.getState().setSignedOut(false)
    set({ current, stream: { name: 'connecting' } })
  },
  setStream: (stream) => set({ stream }),
}))

function connect(profile: Profile): Connection {
  const onSignedOut = () => useSession.getState().setSignedOut(true)
  return { ...profile, client: createClient({ base_url: profile.base_url, token: profile.token, onSignedOut }), cache: createCache() }
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
