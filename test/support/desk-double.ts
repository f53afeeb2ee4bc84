import type { Desk, DeskNews } from '../../server/index.ts'

/** The owner's projects as a host is told of them, played by a test. */
export function createDeskDouble() {
  const listeners = new Set<(news: DeskNews) => void>()
  const visitListeners = new Set<() => void>()
  const acts: string[] = []
  const quiet: DeskNews = { projects: [], project_count: 0, builds: 0, ended: [] }
  const desk = {
    watch(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    watchVisits(listener) {
      visitListeners.add(listener)
      return () => void visitListeners.delete(listener)
    },
    async deploy(slug) {
      acts.push(`deploy ${slug}`)
      if (slug === 'broken') throw new Error('Nothing of it was ever ready.')
    },
    stop: async (slug) => void acts.push(`stop ${slug}`),
  } satisfies Omit<Desk, 'close'>
  return {
    desk,
    acts,
    listeners,
    visit: () => {
      for (const listener of visitListeners) listener()
    },
    tell: (news: Partial<DeskNews>) => {
      for (const listener of listeners) listener({ ...quiet, ...news })
    },
  }
}
