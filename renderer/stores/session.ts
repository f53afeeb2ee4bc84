import { create } from 'zustand'

/** Whether the current instance accepts the session. User details are in the `session` query. */
interface SessionStore {
  signed_out: boolean
  setSignedOut(signedOut: boolean): void
}

export const useSession = create<SessionStore>((set) => ({
  signed_out: false,
  setSignedOut: (signed_out) => set({ signed_out }),
}))
