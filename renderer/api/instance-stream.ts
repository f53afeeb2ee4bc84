import { type QueryClient, notifyManager } from '@tanstack/react-query'
import { applyEvent, refreshAll } from './cache.ts'
import type { Client, EventOf } from './client.ts'
import type { StreamState } from './follow.ts'
import { problemFrom } from './problem.ts'

type InstanceEvent = EventOf<'followInstance'>
type Message = { kind: 'events'; events: InstanceEvent[] } | { kind: 'state'; state: 'connecting' | 'open' } | { kind: 'hello' }

// Instances that offer no event stream (a hosted one) are asked this often instead.
const poll_ms = 5_000

interface FollowOptions {
  onState: (state: StreamState) => void
  /** Before the cache knows, and so can be asked what was. */
  onNews: (event: InstanceEvent) => void
  /** After it knows. */
  onEvent: (event: InstanceEvent) => void
}

/**
 * Keeps the cache of one instance true, by one stream for all windows of a browser: over HTTP/1.1 a browser opens six
 * connections to a host, and a stream in each of six tabs would leave none for anything else. The window that holds
 * the lock follows the stream and passes on what it hears; when it closes, the next one takes over.
 */
export function followInstance(client: Client, cache: QueryClient, name: string, { onState, onNews, onEvent }: FollowOptions): () => void {
  const stopped = new AbortController()
  let last: StreamState = { name: 'connecting' }

  const setState = (state: StreamState) => {
    last = state
    onState(state)
    if (state.name !== 'open') return
    // What happened before somebody listened is not told again, at the very start as after a gap: look at all that is on screen.
    refreshAll(cache)
  }
  // A burst is one change of the page, however many events it holds.
  const take = (events: InstanceEvent[]) =>
    notifyManager.batch(() => {
      for (const event of events) {
        onNews(event)
        applyEvent(cache, event)
        onEvent(event)
      }
    })
  const lead = (tell: (message: Message) => void) => {
    client.follow(
      'followInstance',
      {},
      {
        onEvents(events) {
          take(events)
          tell({ kind: 'events', events })
        },
        onState(state) {
          setState(state)
          if (state.name === 'connecting' || state.name === 'open') tell({ kind: 'state', state: state.name })
          if (state.name === 'refused' && state.problem.status === 404) pollGently(client, cache, stopped.signal, setState)
        },
      },
      { signal: stopped.signal },
    )
  }

  // Locks exist in secure contexts only; on a plain LAN address every window follows for itself.
  if (!('locks' in navigator)) {
    lead(() => undefined)
    return () => stopped.abort()
  }

  const channel = new BroadcastChannel(`homeport.events.${name}`)
  let leading = false
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'hello') {
      if (leading && (last.name === 'open' || last.name === 'connecting')) channel.postMessage({ kind: 'state', state: last.name } satisfies Message)
    } else if (leading) return
    else if (data.kind === 'events') take(data.events)
    else setState({ name: data.state })
  })
  channel.postMessage({ kind: 'hello' } satisfies Message)
  navigator.locks
    .request(`homeport.events.${name}`, { signal: stopped.signal }, () => {
      leading = true
      lead((message) => channel.postMessage(message))
      return new Promise<void>((release) => stopped.signal.addEventListener('abort', () => release()))
    })
    .catch(() => undefined)
  stopped.signal.addEventListener('abort', () => channel.close())
  return () => stopped.abort()
}

/** Asks for what is on screen again and again, and says when nobody answers. Every window asks for itself. */
function pollGently(client: Client, cache: QueryClient, signal: AbortSignal, setState: (state: StreamState) => void): void {
  setState({ name: 'open' })
  let isCut = false
  let isAsking = false
  const look = async () => {
    if (isAsking || document.visibilityState !== 'visible') return
    isAsking = true
    const problem = await client.call('listProjects', { query: { limit: '1' }, signal }).then(() => null, problemFrom)
    isAsking = false
    if (signal.aborted) return
    if (problem && (problem.status === 0 || problem.status >= 500)) {
      isCut = true
      return setState({ name: 'waiting', problem })
    }
    // Coming back refreshes by itself.
    if (isCut) setState({ name: 'open' })
    else refreshAll(cache)
    isCut = false
  }
  const timer = setInterval(() => void look(), poll_ms)
  const now = () => void look()
  window.addEventListener('online', now)
  signal.addEventListener('abort', () => {
    clearInterval(timer)
    window.removeEventListener('online', now)
  })
}
