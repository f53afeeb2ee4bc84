import { useState } from 'react'

/**
 * Whether parts that are drawn together still wait for one another. They do so once: a part that failed, and is asked again because
 * it is on the page now, takes none of the others away.
 */
export function useTogether(queries: readonly { isLoading: boolean }[]): boolean {
  const [areThere, setThere] = useState(false)
  const areComing = queries.some(({ isLoading }) => isLoading)
  if (!areComing && !areThere) setThere(true)
  return areComing && !areThere
}
