import { create } from 'zustand'
import { homeId } from '../../stores/address.ts'
import { recall, remember, useUi } from '../../stores/ui.ts'

interface Kept {
  /** By itself: as long as few projects are there. */
  wish: 'by_itself' | 'closed' | 'brought_back'
  /** Steps that were ticked once. */
  done: string[]
}

interface TourStore extends Kept {
  /** Somebody asked for the list and has not seen it yet: it comes into sight. */
  is_wanted: boolean
  seen(): void
  close(): void
  bringBack(): void
  tick(ids: readonly string[]): void
}

const storageKey = `homeport.tour.${homeId}`

export const useTour = create<TourStore>((set, get) => {
  const change = (part: Partial<Kept>) => {
    set(part)
    const { wish, done } = get()
    remember(storageKey, JSON.stringify({ wish, done }))
  }
  return {
    ...parse(recall(storageKey)),
    is_wanted: false,
    seen: () => set({ is_wanted: false }),
    close: () => change({ wish: 'closed' }),
    bringBack() {
      change({ wish: 'brought_back' })
      set({ is_wanted: true })
    },
    tick(ids) {
      const { done } = get()
      const fresh = ids.filter((id) => !done.includes(id))
      if (fresh.length > 0) change({ done: [...done, ...fresh] })
    },
  }
})

function parse(text: string | null): Kept {
  const nothing: Kept = { wish: 'by_itself', done: [] }
  if (text === null) return nothing
  try {
    const { wish, done } = JSON.parse(text) as Partial<Kept>
    return {
      wish: wish === 'closed' || wish === 'brought_back' ? wish : 'by_itself',
      done: Array.isArray(done) ? done.filter((one) => typeof one === 'string') : [],
    }
  } catch {
    return nothing
  }
}

// That the palette was opened no platform knows.
useUi.subscribe((now, before) => {
  if (now.palette_open && !before.palette_open && useTour.getState().wish !== 'closed') useTour.getState().tick(['palette'])
})
