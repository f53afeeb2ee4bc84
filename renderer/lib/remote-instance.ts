import { createContext, useContext } from 'react'

export interface RemoteInstance {
  name: string
  origin: string
  /** Hue of the frame. */
  hue: number
}

/** The instance that the page belongs to, if it is not the one that served the page. */
export const RemoteInstanceContext = createContext<RemoteInstance | null>(null)

export const useRemoteInstance = () => useContext(RemoteInstanceContext)
