import { create } from 'zustand'
import { localInstanceId } from '../lib/instance-path.ts'
import { readPreference, writePreference, useUi } from './ui.ts'

interface StoredTour {
  /** Default: shown while there are few projects. */
  visibility: 'automatic' | 'closed' | 'reopened'
  /** Completed steps. */
  done: string[]
}

interface TourStore extends StoredTour {
  /** The user opened the list and has not seen it yet; it scrolls into view. */
  should_scroll_into_view: boolean
  markSeen(): void
  close(): void
  reopen(): void
  complete(ids: readonly string[]): void
}

const storageKey = `homeport.tour.${localInstanceId}`

export const useTour = create<TourStore>((set, get) => {
  const change = (part: Partial<StoredTour>) => {
    set(part)
    const { visibility, done } = get()
    writePreference(storageKey, JSON.stringify({ visibility, done }))
  }
  return {
    ...parseStoredTour(readPreference(storageKey)),
    should_scroll_into_view: false,
    markSeen: () => set({ should_scroll_into_view: false }),
    close: () => change({ visibility: 'closed' }),
    reopen() {
      change({ visibility: 'reopened' })
      set({ should_scroll_into_view: true })
    },
    complete(ids) {
      const { done } = get()
      const added = ids.filter((id) => !done.includes(id))
      if (added.length > 0) change({ done: [...done, ...added] })
    },
  }
})

/** Ids of steps that earlier versions stored. */
const earlierStepIds: Record<string, string> = { visit: 'open', again: 'redeploy', beside: 'database' }

export function parseStoredTour(text: string | null): StoredTour {
  const initial: StoredTour = { visibility: 'automatic', done: [] }
  if (text === null) return initial
  try {
    const { visibility, wish, done } = JSON.parse(text) as Partial<StoredTour> & { wish?: string }
    return {
      // Earlier versions stored `wish` instead of `visibility`.
      visibility: visibility === 'closed' || wish === 'closed' ? 'closed' : visibility === 'reopened' ? 'reopened' : 'automatic',
      done: Array.isArray(done) ? done.filter((one) => typeof one === 'string').map((id) => earlierStepIds[id] ?? id) : [],
    }
  } catch {
    return initial
  }
}

// Opening the palette is known only to this browser.
useUi.subscribe((now, before) => {
  if (now.palette_open && !before.palette_open && useTour.getState().visibility !== 'closed') useTour.getState().complete(['palette'])
})
