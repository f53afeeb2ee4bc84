import type { DesktopFeed, DesktopUpdate } from '../../server/index.ts'

/** A desktop feed controlled by a test. */
export function createFakeDesktopFeed() {
  const listeners = new Set<(news: DesktopUpdate) => void>()
  const requestListeners = new Set<() => void>()
  const actions: string[] = []
  const emptyUpdate: DesktopUpdate = { projects: [], project_count: 0, active_deployments: 0, finished_deployments: [] }
  const feed = {
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    subscribeToRequests(listener) {
      requestListeners.add(listener)
      return () => void requestListeners.delete(listener)
    },
    async deploy(slug) {
      actions.push(`deploy ${slug}`)
      if (slug === 'broken') throw new Error('Nothing of it was ever ready.')
    },
    stop: async (slug) => void actions.push(`stop ${slug}`),
  } satisfies Omit<DesktopFeed, 'close'>
  return {
    feed,
    actions,
    listeners,
    emitRequest: () => {
      for (const listener of requestListeners) listener()
    },
    emitUpdate: (news: Partial<DesktopUpdate>) => {
      for (const listener of listeners) listener({ ...emptyUpdate, ...news })
    },
  }
}
