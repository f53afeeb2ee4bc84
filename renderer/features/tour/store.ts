import { create } from 'zustand'
import { useConnection } from '../../stores/connection.ts'
import { recall, remember, useUi } from '../../stores/ui.ts'

/** By itself: as long as few projects are there. */
type Wish = 'by_itself' | 'closed' | 'brought_back'

interface Kept {
  wish: Wish
  /** Steps that were ticked once. */
  done: string[]
}

interface TourStore {
  /** By instance. */
  kept: Record<string, Kept>
  /** Somebody asked for the list and has not seen it yet: it comes into sight. */
  is_wanted: boolean
  seen(): void
  close(): void
  bringBack(): void
  tick(ids: readonly string[]): void
}

const nothing: Kept = { wish: 'by_itself', done: [] }
const keyOf = (id: string) => `homeport.tour.${id}`
const front = () => useConnection.getState().current.id

export const useTour = create<TourStore>((set, get) => {
  const change = (part: Partial<Kept>) => {
    const id = front()
    const next = { ...keptOf(get().kept, id), ...part }
    remember(keyOf(id), JSON.stringify(next))
    set({ kept: { ...get().kept, [id]: next } })
  }
  return {
    kept: {},
    is_wanted: false,
    seen: () => set({ is_wanted: false }),
    close: () => change({ wish: 'closed' }),
    bringBack() {
      change({ wish: 'brought_back' })
      set({ is_wanted: true })
    },
    tick(ids) {
      const { done } = keptOf(get().kept, front())
      const fresh = ids.filter((id) => !done.includes(id))
      if (fresh.length > 0) change({ done: [...done, ...fresh] })
    },
  }
})

/** What is remembered of the instance in front. */
export function useKept(): Kept {
  const id = useConnection((state) => state.current.id)
  return keptOf(
    useTour((state) => state.kept),
    id,
  )
}

const read = new Map<string, Kept>()

function keptOf(kept: Record<string, Kept>, id: string): Kept {
  const held = kept[id] ?? read.get(id)
  if (held) return held
  const found = parse(recall(keyOf(id)))
  read.set(id, found)
  return found
}

function parse(text: string | null): Kept {
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
  if (now.palette_open && !before.palette_open && keptOf(useTour.getState().kept, front()).wish !== 'closed') useTour.getState().tick(['palette'])
})
