import { create } from 'zustand'
import { useSession } from '../../stores/session.ts'

/** Something that ended while the person in front looked at something else. */
export interface Notice {
  /** What happened to what: the same thing is told once. */
  id: string
  kind: 'done' | 'failed'
  title: string
  text: string
  /** What to do about it, where the place that it leads to does not say. */
  todo?: string
  /** How things stand, and not news: it lies in the bell without ringing it. */
  is_quiet?: boolean
  /** Below the dashboard's address of its instance. */
  path: string
  at: string
}

interface Board {
  notices: Notice[]
  unread: number
}

interface NoticeStore {
  /** By instance. */
  boards: Record<string, Board>
  tell(instance: string, notice: Notice): void
  read(instance: string): void
}

export const kept = 50
const empty: Board = { notices: [], unread: 0 }
const storageKey = 'homeport.notices'

export const useNotices = create<NoticeStore>((set) => ({
  boards: stored(),
  tell: (instance, notice) =>
    set(({ boards }) => {
      const { notices, unread } = boards[instance] ?? empty
      if (notices.some(({ id }) => id === notice.id)) return {}
      // What is new stands on top, whatever came after it.
      const at = notice.is_quiet ? unread : 0
      const board = { notices: notices.toSpliced(at, 0, notice).slice(0, kept), unread: Math.min(kept, unread + (notice.is_quiet ? 0 : 1)) }
      return { boards: { ...boards, [instance]: board } }
    }),
  read: (instance) => set(({ boards }) => (boards[instance] ? { boards: { ...boards, [instance]: { ...boards[instance], unread: 0 } } } : {})),
}))

// A reload of the window keeps them; signing out does not, because the next person may be another one.
useNotices.subscribe(({ boards }) => {
  try {
    sessionStorage.setItem(storageKey, JSON.stringify(boards))
  } catch {
    // A browser that stores nothing keeps them as long as the page.
  }
})
useSession.subscribe(({ signed_out }) => signed_out && useNotices.setState({ boards: {} }))

function stored(): Record<string, Board> {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(storageKey) ?? '{}')
    const boards = typeof found === 'object' && found !== null ? Object.entries(found) : []
    return Object.fromEntries(boards.filter((entry): entry is [string, Board] => isBoard(entry[1])))
  } catch {
    return {}
  }
}

/** What another version of the dashboard stored may have another shape. */
function isBoard(found: Partial<Board> | null): found is Board {
  return (
    typeof found?.unread === 'number' &&
    Array.isArray(found.notices) &&
    found.notices.every((one) => [one?.id, one?.title, one?.text, one?.path, one?.at].every((part) => typeof part === 'string'))
  )
}

export const boardOf = (boards: Record<string, Board>, instance: string): Board => boards[instance] ?? empty
