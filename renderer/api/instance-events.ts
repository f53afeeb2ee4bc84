import { type QueryClient, notifyManager } from '@tanstack/react-query'
import { applyEvent, refetchAll } from './query-cache.ts'
import type { ApiClient } from './api-client.ts'
import type { ApiEvent } from '../../server/client/operation-types.ts'
import type { StreamState } from './event-stream.ts'
import { toApiError } from '../lib/api-error.ts'

type InstanceEvent = ApiEvent<'followInstance'>
type WindowMessage = { kind: 'events'; events: InstanceEvent[] } | { kind: 'state'; state: 'connecting' | 'open' } | { kind: 'hello' }

// Polling interval for instances without an event stream (hosted accounts).
const poll_ms = 5_000

interface InstanceEventHandlers {
  onState: (state: StreamState) => void
  /** Called before the cache is updated, so that the previous state is still readable. */
  beforeEvent: (event: InstanceEvent) => void
  /** Called after the cache is updated. */
  afterEvent: (event: InstanceEvent) => void
}

/**
 * Keeps the cache of one instance up to date with one event stream shared by all windows of a browser. Over HTTP/1.1 a browser opens six
 * connections per host, so a stream in each of six tabs would leave none for other requests. The window that holds the lock follows the stream and
 * broadcasts its events; when it closes, another window takes over.
 */
export function followInstanceEvents(
  client: ApiClient,
  cache: QueryClient,
  name: string,
  { onState, beforeEvent, afterEvent }: InstanceEventHandlers,
): () => void {
  const controller = new AbortController()
  let lastState: StreamState = { name: 'connecting' }

  const setState = (state: StreamState) => {
    lastState = state
    onState(state)
    if (state.name !== 'open') return
    // Events from before the connection are not replayed, neither at the start nor after a gap, so everything on screen is refetched.
    refetchAll(cache)
  }
  // A burst causes one update, regardless of the number of events.
  const applyEvents = (events: InstanceEvent[]) =>
    notifyManager.batch(() => {
      for (const event of events) {
        beforeEvent(event)
        applyEvent(cache, event)
        afterEvent(event)
      }
    })
  const openStream = (broadcast: (message: WindowMessage) => void) => {
    client.follow(
      'followInstance',
      {},
      {
        onEvents(events) {
          applyEvents(events)
          broadcast({ kind: 'events', events })
        },
        onState(state) {
          setState(state)
          if (state.name === 'connecting' || state.name === 'open') broadcast({ kind: 'state', state: state.name })
          if (state.name === 'refused' && state.problem.status === 404) pollInstance(client, cache, controller.signal, setState)
        },
      },
      { signal: controller.signal },
    )
  }

  // Locks exist only in secure contexts. On a plain HTTP address of the local network every window follows the stream itself.
  if (!('locks' in navigator)) {
    openStream(() => undefined)
    return () => controller.abort()
  }

  const channel = new BroadcastChannel(`homeport.events.${name}`)
  let isLeader = false
  channel.addEventListener('message', ({ data }: MessageEvent<WindowMessage>) => {
    if (data.kind === 'hello') {
      if (isLeader && (lastState.name === 'open' || lastState.name === 'connecting'))
        channel.postMessage({ kind: 'state', state: lastState.name } satisfies WindowMessage)
    } else if (isLeader) return
    else if (data.kind === 'events') applyEvents(data.events)
    else setState({ name: data.state })
  })
  channel.postMessage({ kind: 'hello' } satisfies WindowMessage)
  navigator.locks
    .request(`homeport.events.${name}`, { signal: controller.signal }, () => {
      isLeader = true
      openStream((message) => channel.postMessage(message))
      return new Promise<void>((release) => controller.signal.addEventListener('abort', () => release()))
    })
    .catch(() => undefined)
  controller.signal.addEventListener('abort', () => channel.close())
  return () => controller.abort()
}

/** Polls the data on screen and reports when the instance is unreachable. Every window polls for itself. */
function pollInstance(client: ApiClient, cache: QueryClient, signal: AbortSignal, setState: (state: StreamState) => void): void {
  setState({ name: 'open' })
  let isDisconnected = false
  let isPolling = false
  const poll = async () => {
    if (isPolling || document.visibilityState !== 'visible') return
    isPolling = true
    const problem = await client.call('listProjects', { query: { limit: '1' }, signal }).then(() => null, toApiError)
    isPolling = false
    if (signal.aborted) return
    if (problem && (problem.status === 0 || problem.status >= 500)) {
      isDisconnected = true
      return setState({ name: 'waiting', problem })
    }
    // Returning to the window triggers a refetch anyway.
    if (isDisconnected) setState({ name: 'open' })
    else refetchAll(cache)
    isDisconnected = false
  }
  const timer = setInterval(() => void poll(), poll_ms)
  const pollNow = () => void poll()
  window.addEventListener('online', pollNow)
  signal.addEventListener('abort', () => {
    clearInterval(timer)
    window.removeEventListener('online', pollNow)
  })
}
