/** Delivers events within this process, synchronously and in order. */
export interface EventBus<Event extends { type: string; id?: string }> {
  publish(event: Event): void
  subscribe(listener: (event: Event) => void): () => void
  /** Only events with this type and id. */
  subscribeTo(event: Event, listener: () => void): () => void
}

export function createEventBus<Event extends { type: string; id?: string }>(): EventBus<Event> {
  const listeners = new Set<(event: Event) => void>()
  const listenersByKey = new Map<string, Set<() => void>>()
  const keyOf = ({ type, id = '' }: Event) => `${type}:${id}`
  return {
    publish(event) {
      for (const listener of listenersByKey.get(keyOf(event)) ?? []) listener()
      for (const listener of listeners) listener(event)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    subscribeTo(event, listener) {
      const key = keyOf(event)
      const set = listenersByKey.get(key) ?? new Set()
      listenersByKey.set(key, set)
      set.add(listener)
      return () => {
        set.delete(listener)
        if (set.size === 0) listenersByKey.delete(key)
      }
    },
  }
}
