/** Says in this process that something changed; whoever cares reads the store. Carries names, never data. */
export interface EventBus {
  emit(name: string): void
  on(name: string, listener: () => void): () => void
  /** Every name that is emitted. */
  onAny(listener: (name: string) => void): () => void
}

export function createEventBus(): EventBus {
  const listeners = new Map<string, Set<() => void>>()
  const wildcardListeners = new Set<(name: string) => void>()
  return {
    emit(name) {
      for (const listener of listeners.get(name) ?? []) listener()
      for (const listener of wildcardListeners) listener(name)
    },
    on(name, listener) {
      const set = listeners.get(name) ?? new Set()
      listeners.set(name, set)
      set.add(listener)
      return () => {
        set.delete(listener)
        if (set.size === 0) listeners.delete(name)
      }
    },
    onAny(listener) {
      wildcardListeners.add(listener)
      return () => wildcardListeners.delete(listener)
    },
  }
}
