import { create } from 'zustand'
import { readPreference, writePreference } from './ui.ts'

type ProjectView = 'list' | 'grid'

interface ProjectListStore {
  view: ProjectView
  /** Slugs of the favorites by instance, in the order in which they were added. */
  favorites: Record<string, string[]>
  setView(view: ProjectView): void
  toggleFavorite(instanceId: string, slug: string): void
}

const viewKey = 'homeport.projects.view'
const favoritesKey = 'homeport.projects.favorites'

/** How this browser shows the projects. */
export const useProjectList = create<ProjectListStore>((set, get) => ({
  view: readPreference(viewKey) === 'grid' ? 'grid' : 'list',
  favorites: parseFavorites(readPreference(favoritesKey)),
  setView(view) {
    writePreference(viewKey, view)
    set({ view })
  },
  toggleFavorite(instanceId, slug) {
    const before = get().favorites[instanceId] ?? []
    const own = before.includes(slug) ? before.filter((one) => one !== slug) : [...before, slug]
    const favorites = { ...get().favorites, [instanceId]: own }
    writePreference(favoritesKey, JSON.stringify(favorites))
    set({ favorites })
  },
}))

export function parseFavorites(text: string | null): Record<string, string[]> {
  if (text === null) return {}
  try {
    const stored: unknown = JSON.parse(text)
    if (typeof stored !== 'object' || stored === null) return {}
    return Object.fromEntries(
      Object.entries(stored).map(([id, slugs]: [string, unknown]) => [
        id,
        Array.isArray(slugs) ? slugs.filter((slug) => typeof slug === 'string') : [],
      ]),
    )
  } catch {
    return {}
  }
}
