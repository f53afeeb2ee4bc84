import { create } from 'zustand'

/** Whether the instance in front of us takes us for somebody. The details of who live in the `session` query. */
interface SessionStore {
  signed_out: boolean
  setSignedOut(signedOut: boolean): void
}

export const useSession = create<SessionStore>((set) => ({
  signed_out: false,
  setSignedOut: (signed_out) => set({ signed_out }),
}))
