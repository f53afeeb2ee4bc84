import { create } from 'zustand'

/** Something that ended while the person in front looked at something else. */
export interface Notice {
  /** What happened to what: the same thing is told once. */
  id: string
  kind: 'done' | 'failed'
  title: string
  text: string
  /** Below the dashboard's address of its instance. */
  path: string
  at: string
}

interface Board {
  notices: Notice[]
  unread: number
}

interface NoticeStore {
  /** By instance; in memory alone. */
  boards: Record<string, Board>
  tell(instance: string, notice: Notice): void
  read(instance: string): void
}

export const kept = 50
const empty: Board = { notices: [], unread: 0 }

export const useNotices = create<NoticeStore>((set) => ({
  boards: {},
  tell: (instance, notice) =>
    set(({ boards }) => {
      const { notices, unread } = boards[instance] ?? empty
      if (notices.some(({ id }) => id === notice.id)) return {}
      return { boards: { ...boards, [instance]: { notices: [notice, ...notices].slice(0, kept), unread: Math.min(kept, unread + 1) } } }
    }),
  read: (instance) => set(({ boards }) => (boards[instance] ? { boards: { ...boards, [instance]: { ...boards[instance], unread: 0 } } } : {})),
}))

export const boardOf = (boards: Record<string, Board>, instance: string): Board => boards[instance] ?? empty
