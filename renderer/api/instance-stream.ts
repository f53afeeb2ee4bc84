import type { QueryClient } from '@tanstack/react-query'
import { applyEvent, refreshAll } from './cache.ts'
import type { Client, EventOf } from './client.ts'
import type { StreamState } from './follow.ts'

type InstanceEvent = EventOf<'followInstance'>
type Message = { kind: 'events'; events: InstanceEvent[] } | { kind: 'state'; state: 'connecting' | 'open' } | { kind: 'hello' }

// Instances that offer no event stream (a hosted one) are asked this often instead.
const poll_ms = 5_000

/**
 * Keeps the cache of one instance true, by one stream for all windows of a browser: over HTTP/1.1 a browser opens six
 * connections to a host, and a stream in each of six tabs would leave none for anything else. The window that holds
 * the lock follows the stream and passes on what it hears; when it closes, the next one takes over.
 */
export function followInstance(
  client: Client,
  cache: QueryClient,
  name: string,
  { onState, onEvent }: { onState: (state: StreamState) => void; onEvent: (event: InstanceEvent) => void },
): () => void {
  const stopped = new AbortController()
  let last: StreamState = { name: 'connecting' }

  const setState = (state: StreamState) => {
    last = state
    onState(state)
    if (state.name !== 'open') return
    // What happened before somebody listened is not told again, at the very start as after a gap: look at all that is on screen.
    refreshAll(cache)
  }
  const take = (events: InstanceEvent[]) => {
    for (const event of events) {
      applyEvent(cache, event)
      onEvent(event)
    }
  }
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
          if (state.name === 'refused' && state.problem.status === 404) pollGently(cache, stopped.signal, setState)
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

function pollGently(cache: QueryClient, signal: AbortSignal, setState: (state: StreamState) => void): void {
  setState({ name: 'open' })
  const timer = setInterval(() => document.visibilityState === 'visible' && refreshAll(cache), poll_ms)
  signal.addEventListener('abort', () => clearInterval(timer))
}
