/** Says in this process that something changed; whoever cares reads the store. Carries names, never data. */
export interface Bus {
  emit(name: string): void
  on(name: string, listener: () => void): () => void
  /** Every name that is emitted. */
  onAny(listener: (name: string) => void): () => void
}

export function createBus(): Bus {
  const listeners = new Map<string, Set<() => void>>()
  const any = new Set<(name: string) => void>()
  return {
    emit(name) {
      for (const listener of listeners.get(name) ?? []) listener()
      for (const listener of any) listener(name)
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
      any.add(listener)
      return () => any.delete(listener)
    },
  }
}
